import { useLocation } from 'react-router';
import { Judges } from './judges';
import { Label } from './label';

export default function JudgesAndLabels() {
  return useLocation().pathname === '/label' ? <Label /> : <Judges />;
}
