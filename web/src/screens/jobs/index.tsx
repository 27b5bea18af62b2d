// Jobs: the list, and one job while it goes on and when it is over.
import { useParams } from 'react-router';
import { JobList } from './list';
import { JobPage } from './job';

export default function JobsPage() {
  const { id } = useParams();
  return id ? <JobPage key={id} id={id} /> : <JobList />;
}
