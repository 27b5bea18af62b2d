import {
  ActionIcon,
  AppShell,
  Badge,
  Box,
  Burger,
  Group,
  Kbd,
  Menu,
  Modal,
  ScrollArea,
  Table,
  Text,
  Tooltip,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight';
import {
  IconBook,
  IconKeyboard,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconPlugConnected,
  IconPlugConnectedX,
  IconSearch,
  IconSun,
  IconSunMoon,
  IconUser,
} from '@tabler/icons-react';
import { Component, type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from 'react';
import { Link, Route, Routes, useLocation, useNavigate } from 'react-router';
import { $api, api, unwrap } from './api/client';
import { useLiveQueries } from './api/jobs';
import { useLiveState } from './api/live';
import { hasUnsentWork, useCurrentUser } from './user';
import { prefetchScreen, type ScreenEntry, screens } from './screens';
import { type Translator, useLanguage, useText } from './text';
import { Page } from './ui/page';
import { Empty, Loading } from './ui/status';
import { askConfirmation } from './ui/confirm';
import { moment } from './ui/format';
import { notifyFailure } from './ui/notify';
import classes from './shell.module.css';
import common from './ui/common.module.css';

/** Shell is the frame around every screen: navigation, commands, the state of the connection, the account. */
export function Shell({ left }: { left: () => void }) {
  const t = useText();
  const me = useCurrentUser();
  const [open, menu] = useDisclosure(false);
  const [help, helping] = useDisclosure(false);
  const place = useLocation();
  const seen = useMemo(
    () => screens.filter((s) => (!s.admin || me.role === 'admin') && !(s.changes && me.read_only)),
    [me],
  );
  const offered = useMemo(
    () => seen.filter((s) => !(s.queue && me.read_only) && !(s.runs && !me.grants.includes('run'))),
    [seen, me],
  );
  const main = useRef<HTMLElement>(null);
  const path = useRef(place.pathname);
  useEffect(() => {
    if (path.current === place.pathname) return;
    path.current = place.pathname;
    menu.close();
    main.current?.focus({ preventScroll: true }); // screen readers announce the new screen
    window.scrollTo(0, 0);
  }, [place.pathname, menu]);
  useKeys(offered, helping.open);
  useLiveQueries();

  const leave = async () => {
    unwrap(await api.DELETE('/api/session', {}));
    left();
  };
  const logout = () => {
    if (hasUnsentWork()) askConfirmation(t, t('shell.logout'), t('shell.logoutText'), t('shell.logout'), leave);
    else leave().catch((e) => notifyFailure(t, e));
  };
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 220, breakpoint: 'md', collapsed: { mobile: !open } }}
      padding={{ base: 'md', md: 'lg' }}
    >
      <a className={classes.skip} href="#main">
        {t('shell.skip')}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" wrap="nowrap">
          <Burger
            opened={open}
            onClick={menu.toggle}
            hiddenFrom="md"
            size="sm"
            aria-label={t('shell.menu')}
            aria-expanded={open}
          />
          <Link
            to="/"
            style={{ display: 'flex', alignItems: 'center', gap: 8, color: 'inherit' }}
            aria-label={`callvet: ${t('shell.home')}`}
          >
            <img src="/icon.svg" width={24} height={24} alt="" />
            <Text fw={700} visibleFrom="xs">
              callvet
            </Text>
          </Link>
          {me.read_only && <Badge color="gray">{t('shell.viewMode')}</Badge>}
          <Box style={{ flex: 1 }} />
          <UnstyledButton
            onClick={spotlight.open}
            className={common.card}
            px="sm"
            py={5}
            style={{ display: 'flex', alignItems: 'center', gap: 8 }}
          >
            <IconSearch size={15} aria-hidden />
            <Text size="sm" c="dimmed" className={classes.wideText}>
              {t('shell.palette')}
            </Text>
            <Kbd size="xs" visibleFrom="sm" aria-hidden>
              Ctrl K
            </Kbd>
          </UnstyledButton>
          {!me.read_only && <Connection />}
          <Account name={me.name} help={helping.open} logout={logout} />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={t('shell.menu')}>
        <ScrollArea>
          {offered
            .filter((s) => !s.hidden)
            .map((s) => (
              <Link
                key={s.paths[0]}
                className={classes.navLink}
                to={s.paths[0]!}
                onPointerEnter={() => prefetchScreen(s.paths[0]!)}
                onFocus={() => prefetchScreen(s.paths[0]!)}
                aria-current={isAt(place.pathname, s) ? 'page' : undefined}
              >
                <s.icon size={18} stroke={1.7} aria-hidden />
                <span>{t(s.title)}</span>
              </Link>
            ))}
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main>
        <Box
          component="section"
          id="main"
          ref={main as never}
          tabIndex={-1}
          style={{ outline: 'none' }}
          maw={1440}
          mx="auto"
        >
          <Lost />
          <Boundary key={place.pathname} t={t}>
            <Suspense fallback={<Loading />}>
              <Routes>
                {seen.flatMap((s) => s.paths.map((p) => <Route key={p} path={p} element={<s.view />} />))}
                <Route path="*" element={<Nowhere />} />
              </Routes>
            </Suspense>
          </Boundary>
        </Box>
      </AppShell.Main>
      <Palette seen={offered} help={helping.open} logout={logout} />
      <Modal opened={help} onClose={helping.close} title={t('shell.shortcuts')}>
        <Keys seen={offered} />
      </Modal>
    </AppShell>
  );
}

function isAt(path: string, s: ScreenEntry): boolean {
  const root = s.paths[0]!;
  return root === '/' ? path === '/' : path === root || path.startsWith(`${root}/`);
}

function Nowhere() {
  const t = useText();
  return (
    <Page title={t('common.notFound')}>
      <Empty title={t('common.notFound')} text={t('common.notFoundText')}>
        <Link to="/">{t('shell.home')}</Link>
      </Empty>
    </Page>
  );
}

function Connection() {
  const t = useText();
  const state = useLiveState();
  const text = t(
    state === 'live'
      ? 'shell.live'
      : state === 'lost'
        ? 'shell.lost'
        : state === 'off'
          ? 'shell.off'
          : 'shell.connecting',
  );
  const Icon = state === 'live' ? IconPlugConnected : IconPlugConnectedX;
  return (
    <Tooltip label={text}>
      <Box
        role="status"
        aria-label={text}
        data-live={state}
        style={{
          display: 'flex',
          color: state === 'live' ? 'var(--cv-pass)' : state === 'lost' ? 'var(--cv-fail)' : 'var(--cv-none)',
        }}
      >
        <Icon size={18} aria-hidden />
      </Box>
    </Tooltip>
  );
}

/** Lost shows in words that the connection is lost, until it is back. */
function Lost() {
  const t = useText();
  if (useLiveState() !== 'lost') return null;
  return (
    <Text size="sm" fw={600} mb="md" data-lost style={{ color: 'var(--cv-fail)' }}>
      {t('shell.lost')}
    </Text>
  );
}

function Account({ name, help, logout }: { name: string; help: () => void; logout: () => void }) {
  const t = useText();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { language, choose } = useLanguage();
  const me = useCurrentUser();
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label={`${t('shell.account')}: ${name}`}>
          <IconUser size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {name} · {me.role}
        </Menu.Label>
        {(['auto', 'light', 'dark'] as const).map((c) => (
          <Menu.Item
            key={c}
            leftSection={
              c === 'auto' ? (
                <IconSunMoon size={16} aria-hidden />
              ) : c === 'light' ? (
                <IconSun size={16} aria-hidden />
              ) : (
                <IconMoon size={16} aria-hidden />
              )
            }
            rightSection={colorScheme === c ? '✓' : null}
            onClick={() => setColorScheme(c)}
          >
            {t('shell.theme')}: {t(c === 'auto' ? 'shell.system' : `shell.${c}`)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLanguage size={16} aria-hidden />}
          onClick={() => choose(language === 'en' ? 'sv' : 'en')}
        >
          {language === 'en' ? 'Svenska' : 'English'}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconKeyboard size={16} aria-hidden />}
          rightSection={<Kbd size="xs">?</Kbd>}
          onClick={help}
        >
          {t('shell.shortcuts')}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconBook size={16} aria-hidden />}
          component="a"
          href="/api/docs"
          target="_blank"
          rel="noreferrer"
        >
          {t('shell.docs')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={logout}>
          {t('shell.logout')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** useFound finds runs, suites and experiments by the typed text: by their names, and runs by their ids too. */
function useFound(asked: string): { to: string; label: string; what: string }[] {
  const t = useText();
  const enabled = asked.length >= 2;
  const suites = $api.useQuery(
    'get',
    '/api/tool-suites',
    { params: { query: { limit: 10, search: asked } } },
    { enabled },
  );
  const experiments = $api.useQuery('get', '/api/experiments', { params: { query: { limit: 200 } } }, { enabled });
  const runs = $api.useQuery('get', '/api/tool-eval/history', { params: { query: { limit: 50 } } }, { enabled });
  if (!enabled) return [];
  const fits = (text: string) => text.toLowerCase().includes(asked.toLowerCase());
  return [
    ...(runs.data?.items ?? [])
      .map((r) => ({
        to: `/runs/${r.id}`,
        label: `${r.suite_name} ${r.id}`,
        what: `${t('shell.foundRun')}, ${moment(r.timestamp)}`,
      }))
      .filter((f) => fits(f.label))
      .slice(0, 10),
    ...(suites.data?.items ?? []).map((s) => ({ to: `/suites/${s.id}`, label: s.name, what: t('shell.foundSuite') })),
    ...(experiments.data?.items ?? [])
      .map((e) => ({ to: `/experiments/${e.id}`, label: e.name, what: t('shell.foundExperiment') }))
      .filter((f) => fits(f.label))
      .slice(0, 10),
  ];
}

function Palette({ seen, help, logout }: { seen: ScreenEntry[]; help: () => void; logout: () => void }) {
  const t = useText();
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme();
  const { language, choose } = useLanguage();
  const [query, setQuery] = useState('');
  const [asked] = useDebouncedValue(query.trim(), 200);
  const found = useFound(asked);
  const actions: SpotlightActionData[] = [
    ...found.map((f) => ({
      id: f.to,
      label: f.label,
      description: f.what,
      onClick: () => navigate(f.to),
      leftSection: <IconSearch size={18} aria-hidden />,
    })),
    ...seen
      .map((s) => ({
        id: s.paths[0]!,
        label: s.hidden ? t(s.title) : t('shell.go', { where: t(s.title) }),
        onClick: () => navigate(s.paths[0]!),
        leftSection: <s.icon size={18} aria-hidden />,
      }))
      .filter((a) => !a.id.includes(':')),
    {
      id: 'light',
      label: `${t('shell.theme')}: ${t('shell.light')}`,
      onClick: () => setColorScheme('light'),
      leftSection: <IconSun size={18} aria-hidden />,
    },
    {
      id: 'dark',
      label: `${t('shell.theme')}: ${t('shell.dark')}`,
      onClick: () => setColorScheme('dark'),
      leftSection: <IconMoon size={18} aria-hidden />,
    },
    {
      id: 'language',
      label: language === 'en' ? 'Svenska' : 'English',
      onClick: () => choose(language === 'en' ? 'sv' : 'en'),
      leftSection: <IconLanguage size={18} aria-hidden />,
    },
    { id: 'keys', label: t('shell.shortcuts'), onClick: help, leftSection: <IconKeyboard size={18} aria-hidden /> },
    { id: 'logout', label: t('shell.logout'), onClick: logout, leftSection: <IconLogout size={18} aria-hidden /> },
  ];
  return (
    <Spotlight
      query={query}
      onQueryChange={setQuery}
      actions={actions}
      shortcut={['mod + K', '/']}
      highlightQuery
      nothingFound={t('shell.noMatch')}
      scrollable
      maxHeight={420}
      searchProps={{
        placeholder: t('shell.palette'),
        'aria-label': t('shell.palette'),
        leftSection: <IconSearch size={18} aria-hidden />,
      }}
    />
  );
}

/** useKeys listens for g and the letter of a screen, and for ?. Keys typed into a field belong to the field. */
function useKeys(seen: ScreenEntry[], help: () => void) {
  const navigate = useNavigate();
  useEffect(() => {
    let since = 0;
    const press = (e: KeyboardEvent) => {
      const target = e.target as HTMLElement;
      if (
        e.ctrlKey ||
        e.metaKey ||
        e.altKey ||
        e.defaultPrevented ||
        target.isContentEditable ||
        target.closest('input, textarea, select, [role="dialog"]')
      )
        return;
      if (e.key === '?') {
        e.preventDefault();
        help();
      } else if (e.key === 'g') {
        since = Date.now();
      } else if (Date.now() - since < 1500) {
        since = 0;
        const to = seen.find((s) => s.key === e.key);
        if (to) {
          e.preventDefault();
          navigate(to.paths[0]!);
        }
      }
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [seen, help, navigate]);
}

function Keys({ seen }: { seen: ScreenEntry[] }) {
  const t = useText();
  const rows: [ReactNode, string][] = [
    [
      <>
        <Kbd>Ctrl</Kbd> <Kbd>K</Kbd>, <Kbd>/</Kbd>
      </>,
      t('shell.keysPalette'),
    ],
    [<Kbd>?</Kbd>, t('shell.keysHelp')],
    [
      <>
        <Kbd>j</Kbd> <Kbd>k</Kbd>, <Kbd>↓</Kbd> <Kbd>↑</Kbd>
      </>,
      t('shell.keysTable'),
    ],
    [<Kbd>Enter</Kbd>, t('shell.keysOpen')],
    [<Kbd>Esc</Kbd>, t('shell.keysBack')],
    ...seen
      .filter((s) => s.key)
      .map((s): [ReactNode, string] => [
        <>
          <Kbd>g</Kbd> <Kbd>{s.key}</Kbd>
        </>,
        t('shell.go', { where: t(s.title) }),
      ]),
  ];
  return (
    <Table>
      <Table.Tbody>
        {rows.map(([keys, text], i) => (
          <Table.Tr key={i}>
            <Table.Td w={150}>{keys}</Table.Td>
            <Table.Td>{text}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

/**
 * Boundary shows an error of one screen in its place, so that the rest of the page works. If the code of a screen is
 * missing after an update of the server, it offers a reload.
 */
class Boundary extends Component<{ children: ReactNode; t: Translator }, { error: Error | null }> {
  override state = { error: null as Error | null };
  static getDerivedStateFromError(error: Error) {
    return { error };
  }
  override render() {
    const { t } = this.props;
    if (!this.state.error) return this.props.children;
    const stale = /dynamically imported module|Importing a module/.test(this.state.error.message);
    return (
      <Empty
        title={stale ? t('shell.newVersion') : t('shell.crashed')}
        text={stale ? undefined : `${t('shell.crashedText')} (${this.state.error.message})`}
      >
        <a href={location.href}>{t('shell.reload')}</a>
      </Empty>
    );
  }
}
