import { useParams } from 'react-router';
import { ExperimentList } from './list';
import { ExperimentPage } from './experiment';

export default function ExperimentsPage() {
  const { id } = useParams();
  return id ? <ExperimentPage key={id} id={id} /> : <ExperimentList />;
}
