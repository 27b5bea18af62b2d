// Settings: one part at a time, which the address names.
import { Tabs } from '@mantine/core';
import { useNavigate, useParams } from 'react-router';
import { useMay, useMe } from '../../me';
import { type TextKey, useText } from '../../text';
import { Screen } from '../../ui/bits';
import { Appearance } from './appearance';
import { Keys } from './keys';
import { Limits } from './limits';
import { Password } from './password';
import { Schedules } from './schedules';
import { Tokens } from './tokens';
import { Users } from './users';

const parts = [
  { tab: 'keys', title: 'settings.keys', view: Keys, needs: 'run' },
  { tab: 'schedules', title: 'settings.schedules', view: Schedules, needs: 'run' },
  { tab: 'tokens', title: 'settings.tokens', view: Tokens },
  { tab: 'password', title: 'settings.password', view: Password },
  { tab: 'users', title: 'settings.users', view: Users, needs: 'admin' },
  { tab: 'limits', title: 'settings.limits', view: Limits, needs: 'admin' },
  { tab: 'appearance', title: 'settings.appearance', view: Appearance },
] as const satisfies { tab: string; title: TextKey; view: () => React.ReactNode; needs?: string }[];

export default function Settings() {
  const t = useText();
  const me = useMe();
  const run = useMay('run');
  const admin = useMay('admin');
  const navigate = useNavigate();
  const { tab } = useParams();
  const seen = parts.filter((p) => !('needs' in p) || (p.needs === 'admin' ? admin : run));
  const at = seen.find((p) => p.tab === tab) ?? seen[0]!;
  return (
    <Screen
      title={t('shell.settings')}
      lead={`${me.name} · ${t(`settings.role_${me.role as 'viewer' | 'member' | 'admin'}`)}`}
    >
      <Tabs value={at.tab} onChange={(v) => v && navigate(`/settings/${v}`)} keepMounted={false}>
        <Tabs.List aria-label={t('settings.tabs')}>
          {seen.map((p) => (
            <Tabs.Tab key={p.tab} value={p.tab}>
              {t(p.title)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {seen.map((p) => (
          <Tabs.Panel key={p.tab} value={p.tab} pt="lg">
            <p.view />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Screen>
  );
}
