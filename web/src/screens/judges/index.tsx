import { useLocation } from 'react-router';
import { Gold } from './goldsheet';
import { Judges } from './judges';
import { Label } from './label';

export default function JudgesAndLabels() {
  const { pathname } = useLocation();
  return pathname === '/label' ? <Label /> : pathname === '/gold' ? <Gold /> : <Judges />;
}
