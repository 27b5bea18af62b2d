import { useLocation, useParams } from 'react-router';
import { SuitePage } from './suite';
import { ImportPage } from './import';
import { SuiteList } from './list';

/** Suites is the list of suites, the import, or one suite, by the address. */
export default function SuitesPage() {
  const { id } = useParams();
  const { pathname } = useLocation();
  if (id) return <SuitePage key={id} id={id} />;
  return pathname === '/suites/import' ? <ImportPage /> : <SuiteList />;
}
