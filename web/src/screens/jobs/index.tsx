// Jobs: the list, and one job while it goes on and when it is over.
import { useParams } from 'react-router';
import { JobList } from './list';
import { JobView } from './view';

export default function Jobs() {
  const { id } = useParams();
  return id ? <JobView key={id} id={id} /> : <JobList />;
}
