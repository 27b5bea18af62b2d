import { useParams } from 'react-router';
import { List } from './list';
import { One } from './one';

export default function Experiments() {
  const { id } = useParams();
  return id ? <One key={id} id={id} /> : <List />;
}
