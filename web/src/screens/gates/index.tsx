import { useParams } from 'react-router';
import { GateList } from './list';
import { GatePage } from './gate';

export default function GatesPage() {
  const { id } = useParams();
  return id ? <GatePage key={id} id={id} /> : <GateList />;
}
