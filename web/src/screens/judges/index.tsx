import { useLocation } from 'react-router';
import { GoldSheetPage } from './goldsheet';
import { JudgesPage } from './judges';
import { LabelPage } from './label';

export default function JudgesAndLabels() {
  const { pathname } = useLocation();
  return pathname === '/label' ? <LabelPage /> : pathname === '/gold' ? <GoldSheetPage /> : <JudgesPage />;
}
