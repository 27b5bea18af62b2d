// One suite: its cases, tools, prompt, text, versions and runs, each with its own address.
import {
  ActionIcon,
  Badge,
  Button,
  Group,
  Menu,
  Modal,
  Stack,
  Switch,
  Tabs,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconDots, IconDownload, IconPencil, IconPlayerPlay, IconShare, IconTrash } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { $api, api, unwrap } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { usePermission, useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Page } from '../../ui/page';
import { Failure, Loading } from '../../ui/status';
import { download } from '../../ui/download';
import { useParam } from '../../ui/params';
import { restorable, notify, notifyFailure } from '../../ui/notify';
import { useUnsaved } from '../../ui/unsaved';
import { CasesTab } from './cases';
import { type Editing, useEditing, useLint, useSource } from './data';
import { ProblemCounts, fieldErrors, SaveRefused } from './problems';
import { PromptTab } from './prompt';
import { RunsTab } from './runs';
import { SourceTab } from './source';
import { ToolsTab } from './tools';
import { VersionsTab } from './versions';
import common from '../../ui/common.module.css';

const tabs = ['cases', 'tools', 'prompt', 'source', 'versions', 'runs'] as const;

export function SuitePage({ id }: { id: string }) {
  const t = useText();
  const { query, suite, editing } = useEditing(id);
  if (query.error && !suite) {
    return (
      <Page title={t('shell.suites')} lead={<Link to="/suites">{t('suites.back')}</Link>}>
        <Failure of={query.error} retry={() => query.refetch()} />
      </Page>
    );
  }
  if (!editing) return <Loading />;
  return <Opened editing={editing} />;
}

function Opened({ editing }: { editing: Editing }) {
  const t = useText();
  const me = useCurrentUser();
  const { suite, may } = editing;
  const mayRun = usePermission('run');
  const [tab, setTab] = useParam('tab', 'cases');
  const [details, detailing] = useDisclosure(false);
  // Inputs survive a change of the tab.
  const [prompt, setPrompt] = useState<string | null>(null);
  const [text, setText] = useState<{ yaml: boolean; text: string } | null>(null);
  const unsaved = prompt !== null || text !== null;
  useUnsaved(unsaved);
  const source = useSource(suite.id, suite.version, true);
  const lint = useLint(source.data ?? null, 'callvet');

  return (
    <Page
      title={suite.name}
      lead={
        <Group gap="sm" mt={2}>
          <Link to="/suites">{t('suites.back')}</Link>
          <span className={common.num}>
            {t('suites.counts', { tools: suite.tool_count, cases: suite.test_case_count, version: suite.version })}
          </span>
          {suite.shared && (
            <Badge color="gray" leftSection={<IconShare size={12} aria-hidden />}>
              {t('common.shared')}
            </Badge>
          )}
          <ProblemCounts of={lint.problems} />
        </Group>
      }
      actions={
        <>
          {may && (
            <Button variant="default" leftSection={<IconPencil size={16} aria-hidden />} onClick={detailing.open}>
              {t('suites.details')}
            </Button>
          )}
          <More editing={editing} />
          {mayRun && (
            <Button
              leftSection={<IconPlayerPlay size={16} aria-hidden />}
              component={Link}
              to={`/new?suite=${suite.id}`}
            >
              {t('suites.run')}
            </Button>
          )}
        </>
      }
    >
      {suite.description && (
        <Text size="sm" className={common.untrusted} mt={-8} maw={900}>
          {suite.description}
        </Text>
      )}
      {suite.owner !== me.user_id && !may && (
        <Text size="sm" c="dimmed" mt={-8}>
          {t('suites.notYours')}
        </Text>
      )}
      <Tabs
        value={(tabs as readonly string[]).includes(tab) ? tab : 'cases'}
        onChange={(v) => setTab(v)}
        keepMounted={false}
      >
        <Tabs.List aria-label={t('suites.tabs')}>
          {tabs.map((x) => (
            <Tabs.Tab
              key={x}
              value={x}
              rightSection={
                x === 'cases' ? (
                  <span className={`${common.num} ${common.dim}`}>
                    {suite.test_cases.length - [...editing.hidden].filter((h) => !h.startsWith('tool:')).length}
                  </span>
                ) : x === 'tools' ? (
                  <span className={`${common.num} ${common.dim}`}>{suite.tools.length}</span>
                ) : (x === 'prompt' && prompt !== null) || (x === 'source' && text !== null) ? (
                  <span className={common.dim}>{t('suites.unsaved')}</span>
                ) : null
              }
            >
              {t(`suites.tab_${x}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="cases" pt="md">
          <CasesTab editing={editing} problems={lint.problems} />
        </Tabs.Panel>
        <Tabs.Panel value="tools" pt="md">
          <ToolsTab editing={editing} />
        </Tabs.Panel>
        <Tabs.Panel value="prompt" pt="md">
          <PromptTab editing={editing} draft={prompt} setDraft={setPrompt} />
        </Tabs.Panel>
        <Tabs.Panel value="source" pt="md">
          <SourceTab editing={editing} draft={text} setDraft={setText} />
        </Tabs.Panel>
        <Tabs.Panel value="versions" pt="md">
          <VersionsTab editing={editing} />
        </Tabs.Panel>
        <Tabs.Panel value="runs" pt="md">
          <RunsTab id={suite.id} />
        </Tabs.Panel>
      </Tabs>
      <Modal opened={details} onClose={detailing.close} title={t('suites.details')}>
        {details && <Details editing={editing} done={detailing.close} />}
      </Modal>
    </Page>
  );
}

/** More is the menu of actions on the whole suite: export in every form, delete. */
function More({ editing: { suite, may } }: { editing: Editing }) {
  const t = useText();
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const forms = $api.useQuery('get', '/api/tool-eval/forms', {}, { staleTime: Number.POSITIVE_INFINITY });
  const save = async (format: string, yaml: boolean) => {
    try {
      const answer = await api.GET('/api/tool-suites/{id}/export', {
        params: { path: { id: suite.id }, query: { format, yaml } },
        parseAs: 'blob',
      });
      const blob = unwrap(answer) as unknown as Blob;
      const lost = answer.response.headers.get('X-Callvet-Not-Carried');
      const name = /filename="([^"]+)"/.exec(answer.response.headers.get('Content-Disposition') ?? '')?.[1] ?? 'suite';
      download(name, blob);
      if (lost) notify(t('suites.notCarriedExport', { what: lost }));
    } catch (e) {
      notifyFailure(t, e);
    }
  };
  const drop = async () => {
    const again = () => invalidate.suites();
    try {
      unwrap(
        await api.DELETE('/api/tool-suites/{id}', {
          params: { path: { id: suite.id }, header: { 'If-Match': `"${suite.version}"` } },
        }),
      );
      await again();
      navigate('/suites');
      restorable(t, suite.name, async () => {
        unwrap(await api.POST('/api/tool-suites/{id}/restore', { params: { path: { id: suite.id } } }));
        await again();
        notify(t('suites.restored', { what: suite.name }));
      });
    } catch (e) {
      notifyFailure(t, e);
    }
  };
  const list = (forms.data?.write ?? []).flatMap((f) =>
    f === 'callvet'
      ? [
          { f, yaml: true, label: 'callvet (YAML)' },
          { f, yaml: false, label: 'callvet (JSON)' },
        ]
      : [{ f, yaml: false, label: f }],
  );
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />}>
            {t('suites.export')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {list.map((x) => (
            <Menu.Item key={x.label} onClick={() => save(x.f, x.yaml)}>
              {x.label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {may && (
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="default" size={36} aria-label={t('suites.moreActions')}>
              <IconDots size={16} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconTrash size={16} aria-hidden />} onClick={drop}>
              {t('suites.deleteNamed', { name: suite.name })}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
    </>
  );
}

function Details({ editing, done }: { editing: Editing; done: () => void }) {
  const t = useText();
  const { suite, write } = editing;
  const [name, setName] = useState(suite.name);
  const [description, setDescription] = useState(suite.description);
  const [shared, setShared] = useState(suite.shared);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const { fields, rest } = fieldErrors(error, ['name', 'description', 'shared']);
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const now = await write(
        async (match, was) =>
          unwrap(
            await api.PATCH('/api/tool-suites/{id}', {
              params: { path: { id: suite.id }, header: { 'If-Match': match } },
              body: {
                ...(name !== was.name ? { name: name.trim() } : {}),
                ...(description !== was.description ? { description } : {}),
                ...(shared !== was.shared ? { shared } : {}),
              },
            }),
          ),
        (_, answer) => answer,
      );
      notify(t('suites.saved', { version: now.version }));
      done();
    } catch (x) {
      setError(x);
      setBusy(false);
    }
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={t('common.name')}
          required
          maxLength={256}
          data-autofocus
          value={name}
          error={fields.name}
          onChange={(e) => setName(e.currentTarget.value)}
        />
        <Textarea
          label={t('suites.description')}
          autosize
          minRows={2}
          maxRows={10}
          maxLength={5000}
          value={description}
          error={fields.description}
          onChange={(e) => setDescription(e.currentTarget.value)}
        />
        <Switch
          label={t('suites.share')}
          description={t('suites.shareText')}
          checked={shared}
          onChange={(e) => setShared(e.currentTarget.checked)}
        />
        <SaveRefused
          of={error !== null && (rest.length > 0 || Object.keys(fields).length === 0) ? error : null}
          editing={editing}
          done={() => setError(null)}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={busy} disabled={name.trim() === ''}>
            {t('common.save')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
