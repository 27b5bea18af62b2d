import { useLocation, useParams } from 'react-router';
import { TuneForm } from './form';
import { TuneList } from './list';
import { SearchPage } from './search';

export default function TunePage() {
  const { id } = useParams();
  const { pathname } = useLocation();
  if (pathname === '/tune/new') return <TuneForm />;
  return id ? <SearchPage key={id} id={id} /> : <TuneList />;
}
