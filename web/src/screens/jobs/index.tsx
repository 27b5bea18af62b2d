// Jobs: the list, and one job during and after its work.
import { useParams } from 'react-router';
import { JobList } from './list';
import { JobPage } from './job';

export default function JobsPage() {
  const { id } = useParams();
  return id ? <JobPage key={id} id={id} /> : <JobList />;
}
