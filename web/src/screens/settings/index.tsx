// Settings: one part at a time, by the address.
import { Tabs } from '@mantine/core';
import { useNavigate, useParams } from 'react-router';
import { usePermission, useCurrentUser } from '../../user';
import { type TextKey, useText } from '../../text';
import { Page } from '../../ui/page';
import { AppearanceSection } from './appearance';
import { KeysSection } from './keys';
import { LimitsSection } from './limits';
import { PasswordSection } from './password';
import { SchedulesSection } from './schedules';
import { TokensSection } from './tokens';
import { UsersSection } from './users';

const parts = [
  { tab: 'keys', title: 'settings.keys', view: KeysSection, needs: 'run' },
  { tab: 'schedules', title: 'settings.schedules', view: SchedulesSection, needs: 'run' },
  { tab: 'tokens', title: 'settings.tokens', view: TokensSection },
  { tab: 'password', title: 'settings.password', view: PasswordSection },
  { tab: 'users', title: 'settings.users', view: UsersSection, needs: 'admin' },
  { tab: 'limits', title: 'settings.limits', view: LimitsSection, needs: 'admin' },
  { tab: 'appearance', title: 'settings.appearance', view: AppearanceSection },
] as const satisfies { tab: string; title: TextKey; view: () => React.ReactNode; needs?: string }[];

export default function SettingsPage() {
  const t = useText();
  const me = useCurrentUser();
  const run = usePermission('run');
  const admin = usePermission('admin');
  const navigate = useNavigate();
  const { tab } = useParams();
  const seen = parts.filter((p) => !('needs' in p) || (p.needs === 'admin' ? admin : run));
  const at = seen.find((p) => p.tab === tab) ?? seen[0]!;
  return (
    <Page
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
    </Page>
  );
}
