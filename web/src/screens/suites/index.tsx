import { useLocation, useParams } from 'react-router';
import { Editor } from './editor';
import { Import } from './import';
import { List } from './list';

/** Suites is the list of suites, the import, or one suite, by the address. */
export default function Suites() {
  const { id } = useParams();
  const { pathname } = useLocation();
  if (id) return <Editor key={id} id={id} />;
  return pathname === '/suites/import' ? <Import /> : <List />;
}
