// Import of suites: from a file or a text in any form, or from the tools of an MCP server.
import {
  Alert,
  Badge,
  Box,
  Button,
  Checkbox,
  FileButton,
  Group,
  List,
  Select,
  Stack,
  Tabs,
  Text,
  TextInput,
} from '@mantine/core';
import { IconAlertTriangle, IconDownload, IconFile, IconUpload } from '@tabler/icons-react';
import { type DragEvent, type FormEvent, type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { usePermission } from '../../user';
import { useText } from '../../text';
import { Card, Page } from '../../ui/page';
import { Empty, Failure } from '../../ui/status';
import { CodeEditor } from '../../ui/code';
import { useParam } from '../../ui/params';
import { maxSourceBytes, marksOf, type Remark, remarkText, type Suite, useLint, useSchemaCompletions } from './data';
import { fieldErrors, Problems } from './problems';
import common from '../../ui/common.module.css';

export function ImportPage() {
  const t = useText();
  const may = usePermission('write');
  const [from, setFrom] = useParam('from', 'text');
  const [done, setDone] = useState<Schemas['Imported'] | null>(null);
  const invalidate = useInvalidate();
  const imported = (i: Schemas['Imported']) => {
    invalidate.suites();
    setDone(i);
  };
  return (
    <Page
      title={t('suites.importSuite')}
      lead={
        <Group gap="sm">
          <Link to="/suites">{t('suites.back')}</Link>
          <span>{t('suites.importLead')}</span>
        </Group>
      }
    >
      {!may ? (
        <Empty title={t('common.readOnly')} />
      ) : done ? (
        <Done of={done} again={() => setDone(null)} />
      ) : (
        <Tabs value={from === 'mcp' ? 'mcp' : 'text'} onChange={(v) => setFrom(v)}>
          <Tabs.List aria-label={t('suites.howImport')}>
            <Tabs.Tab value="text">{t('suites.fromText')}</Tabs.Tab>
            <Tabs.Tab value="mcp">{t('suites.fromMcp')}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="text" pt="md">
            <FromText done={imported} />
          </Tabs.Panel>
          <Tabs.Panel value="mcp" pt="md">
            <FromServer done={imported} />
          </Tabs.Panel>
        </Tabs>
      )}
    </Page>
  );
}

function FromText({ done }: { done: (i: Schemas['Imported']) => void }) {
  const t = useText();
  const [text, setText] = useState('');
  const [name, setName] = useState('');
  const [format, setFormat] = useParam('format');
  const [over, setOver] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [spot, setSpot] = useState<{ line: number; column: number }>();
  const forms = $api.useQuery('get', '/api/tool-eval/forms', {}, { staleTime: Number.POSITIVE_INFINITY });
  const lint = useLint(text || null, format);
  const words = useSchemaCompletions('suite');
  const fresh = lint.of === text && !lint.busy;

  const take = async (file: File | null | undefined) => {
    if (!file) return;
    setError(null);
    if (file.size > maxSourceBytes) return setError(new Error(t('suites.tooLarge')));
    try {
      setText(new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()));
      setName(file.name.replace(/\.[^.]+$/, ''));
    } catch {
      setError(new Error(t('suites.notText')));
    }
  };
  const drop = (e: DragEvent) => {
    e.preventDefault();
    setOver(false);
    take(e.dataTransfer.files[0]);
  };
  const example = async () => {
    try {
      setText(unwrap(await api.GET('/api/tool-eval/import/example', { parseAs: 'text' })) as unknown as string);
    } catch (e) {
      setError(e);
    }
  };
  const send = async () => {
    setBusy(true);
    setError(null);
    try {
      const form = new FormData();
      form.append('file', new Blob([text]), `${name.trim()}.txt`);
      done(
        unwrap(
          await api.POST('/api/tool-eval/import', {
            params: { query: format ? { format } : {} },
            body: form as never,
            bodySerializer: (b: unknown) => b as FormData,
          }),
        ),
      );
    } catch (e) {
      setError(e);
      setBusy(false);
    }
  };
  return (
    <Stack gap="md">
      <Box
        className={common.card}
        p="lg"
        onDrop={drop}
        onDragOver={(e) => (e.preventDefault(), setOver(true))}
        onDragLeave={() => setOver(false)}
        data-drop
        style={{
          borderStyle: 'dashed',
          borderColor: over ? 'var(--cv-mark)' : undefined,
          background: over ? 'color-mix(in srgb, var(--cv-mark) 8%, var(--cv-card))' : undefined,
        }}
      >
        <Group justify="space-between" gap="md">
          <Group gap="sm" wrap="nowrap">
            <IconUpload size={22} stroke={1.6} aria-hidden />
            <Text size="sm">{t('suites.drop')}</Text>
          </Group>
          <Group gap="xs">
            <FileButton onChange={take} inputProps={{ 'aria-label': t('suites.choose') }}>
              {(p) => (
                <Button variant="default" leftSection={<IconFile size={16} aria-hidden />} {...p}>
                  {t('suites.choose')}
                </Button>
              )}
            </FileButton>
            <Button variant="subtle" onClick={example}>
              {t('suites.useExample')}
            </Button>
            <Button
              variant="subtle"
              component="a"
              href="/api/tool-eval/import/example"
              download
              leftSection={<IconDownload size={16} aria-hidden />}
            >
              {t('suites.downloadExample')}
            </Button>
          </Group>
        </Group>
      </Box>
      <CodeEditor
        label={t('suites.textLabel')}
        value={text}
        onChange={setText}
        language={/^\s*[{[]/.test(text) ? 'json' : 'yaml'}
        height={340}
        words={words}
        marks={marksOf(lint.problems)}
        at={spot}
      />
      <Group gap="sm" align="flex-end">
        <Select
          label={t('suites.fileForm')}
          w={220}
          placeholder={t('suites.formFound')}
          clearable
          clearButtonProps={{ 'aria-label': t('suites.formFound') }}
          data={forms.data?.read ?? []}
          value={format || null}
          onChange={(v) => setFormat(v)}
        />
        <TextInput
          label={t('suites.nameIfNone')}
          w={{ base: '100%', xs: 260 }}
          maxLength={250}
          value={name}
          onChange={(e) => setName(e.currentTarget.value)}
        />
        {fresh && lint.form && (
          <Text size="sm" c="dimmed" pb={8} role="status">
            {t('suites.readAs', { form: lint.form, n: lint.cases })}
          </Text>
        )}
        <Button ml="auto" onClick={send} loading={busy} disabled={text.trim() === '' || (fresh && !lint.ok)}>
          {t('suites.doImport')}
        </Button>
      </Group>
      <Problems lint={lint} go={(line, column) => setSpot({ line, column })} />
      <Failure of={error} />
    </Stack>
  );
}

function FromServer({ done }: { done: (i: Schemas['Imported']) => void }) {
  const t = useText();
  const [url, setUrl] = useParam('url');
  const [transport, setTransport] = useParam('transport');
  const [found, setFound] = useState<Schemas['MCPTools'] | null>(null);
  const [chosen, setChosen] = useState<Set<string>>(new Set());
  const [name, setName] = useState('');
  const [prefix, setPrefix] = useState('');
  const [drafts, setDrafts] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const { fields, rest } = fieldErrors(error, ['url', 'suite_name', 'prefix']);
  const address = { url: url.trim(), ...(transport ? { transport: transport as 'streamable' | 'sse' } : {}) };
  const send = async (does: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await does();
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  const ask = (e: FormEvent) => {
    e.preventDefault();
    send(async () => {
      const tools = unwrap(await api.POST('/api/mcp/discover', { body: address }));
      setFound(tools);
      setChosen(new Set(tools.tools.map((x) => x.name)));
      setName(tools.server_name);
    });
  };
  const take = () =>
    send(async () =>
      done(
        unwrap(
          await api.POST('/api/mcp/import', {
            body: {
              ...address,
              tools: found!.tools.map((x) => x.name).filter((n) => chosen.has(n)),
              ...(name.trim() ? { suite_name: name.trim() } : {}),
              ...(prefix ? { prefix } : {}),
              ...(drafts ? { draft_cases: true } : {}),
            },
          }),
        ),
      ),
    );
  const all = found !== null && chosen.size === found.tools.length;
  return (
    <Stack gap="md">
      <form onSubmit={ask}>
        <Group gap="sm" align="flex-end">
          <TextInput
            label={t('suites.mcpUrl')}
            description={t('suites.mcpUrlText')}
            type="url"
            required
            value={url}
            error={fields.url}
            style={{ flex: '1 1 320px' }}
            maxLength={2000}
            onChange={(e) => {
              setUrl(e.currentTarget.value, { replace: true });
              setFound(null);
            }}
          />
          <Select
            label={t('suites.transport')}
            w={260}
            placeholder={t('suites.transportAny')}
            clearable
            clearButtonProps={{ 'aria-label': t('suites.transportAny') }}
            data={['streamable', 'sse']}
            value={transport || null}
            onChange={(v) => setTransport(v, { replace: true })}
          />
          <Button
            type="submit"
            variant={found ? 'default' : 'filled'}
            loading={busy && !found}
            disabled={url.trim() === ''}
          >
            {t('suites.discover')}
          </Button>
        </Group>
      </form>
      {error !== null && (rest.length > 0 || Object.keys(fields).length === 0) && <Failure of={error} />}
      {found && (
        <Card
          title={t('suites.found', { name: found.server_name, version: found.server_version, n: found.tool_count })}
        >
          <Stack gap="md">
            {found.problems.length > 0 && <Remarks of={found.problems} title={t('suites.odd')} />}
            <Checkbox
              label={t('suites.chooseAll')}
              checked={all}
              indeterminate={!all && chosen.size > 0}
              styles={{ label: { fontWeight: 600 } }}
              onChange={() => setChosen(all ? new Set() : new Set(found.tools.map((x) => x.name)))}
            />
            <Box
              role="group"
              aria-label={t('suites.chooseTools')}
              style={{ maxHeight: 420, overflow: 'auto' }}
              tabIndex={0}
            >
              {found.tools.map((x) => (
                <Box key={x.name} py={7} style={{ borderTop: '1px solid var(--cv-line)' }}>
                  <Checkbox
                    checked={chosen.has(x.name)}
                    aria-label={t('suites.takeTool', { name: x.name })}
                    label={
                      <span>
                        <span className={`${common.mono} ${common.untrusted}`} style={{ fontWeight: 600 }}>
                          {x.name}
                        </span>{' '}
                        <Text span size="xs" c="dimmed">
                          {t('suites.paramsN', { n: x.parameter_count })}
                        </Text>{' '}
                        {x.read_only && <Badge color="gray">{t('suites.readOnlyTool')}</Badge>}
                        <Text
                          size="sm"
                          c="dimmed"
                          className={common.untrusted}
                          lineClamp={2}
                          component="span"
                          style={{ display: '-webkit-box' }}
                        >
                          {x.description || t('suites.noDescription')}
                        </Text>
                      </span>
                    }
                    onChange={(e) => {
                      const next = new Set(chosen);
                      if (e.currentTarget.checked) next.add(x.name);
                      else next.delete(x.name);
                      setChosen(next);
                    }}
                  />
                </Box>
              ))}
            </Box>
            <Group gap="md" align="flex-end">
              <TextInput
                label={t('suites.suiteName')}
                w={{ base: '100%', xs: 320 }}
                maxLength={256}
                value={name}
                error={fields.suite_name}
                onChange={(e) => setName(e.currentTarget.value)}
              />
              <TextInput
                label={t('suites.prefix')}
                description={t('suites.prefixText')}
                placeholder="mcp__github__"
                w={{ base: '100%', xs: 320 }}
                maxLength={64}
                value={prefix}
                error={fields.prefix}
                onChange={(e) => setPrefix(e.currentTarget.value.trim())}
              />
              <Checkbox
                label={t('suites.drafts')}
                description={t('suites.draftsText')}
                checked={drafts}
                onChange={(e) => setDrafts(e.currentTarget.checked)}
                style={{ flex: '1 1 280px' }}
              />
              <Button loading={busy} disabled={chosen.size === 0} onClick={take}>
                {t('suites.importTools', { n: chosen.size })}
              </Button>
            </Group>
          </Stack>
        </Card>
      )}
    </Stack>
  );
}

/** Done shows the result of an import, and the parts that the fields cannot express. */
function Done({ of, again }: { of: Schemas['Imported']; again: () => void }) {
  const t = useText();
  const suite = $api.useQuery(
    'get',
    '/api/tool-suites/{id}',
    { params: { path: { id: of.suite_id } } },
    { staleTime: Number.POSITIVE_INFINITY },
  );
  const lost = suite.data ? lostOf(suite.data) : [];
  return (
    <Card title={t('suites.imported', { name: of.name })}>
      <Stack gap="md" align="flex-start">
        <Text>{t('suites.importedCounts', { tools: of.tool_count, cases: of.test_case_count })}</Text>
        {of.warnings.length > 0 ? (
          <Remarks of={of.warnings} title={t('suites.couldNot')} />
        ) : (
          <Text size="sm" c="dimmed">
            {t('suites.allCarried')}
          </Text>
        )}
        {lost.length > 0 && (
          <Text size="sm" c="dimmed" className={common.untrusted}>
            {t('suites.notCarried', { what: lost.join(', ') })}
          </Text>
        )}
        <Group gap="xs">
          <Button component={Link} to={`/suites/${of.suite_id}`}>
            {t('suites.openSuite')}
          </Button>
          <Button variant="default" onClick={again}>
            {t('suites.importAnother')}
          </Button>
        </Group>
      </Stack>
    </Card>
  );
}

function lostOf(s: Suite): string[] {
  return [
    ...new Set([
      ...(s.not_carried ?? []),
      ...s.test_cases.flatMap((c) => (c.not_carried ?? []).map((x) => `${c.id}: ${x}`)),
    ]),
  ].slice(0, 50);
}

function Remarks({ of, title }: { of: Remark[]; title: ReactNode }) {
  return (
    <Alert color="yellow" icon={<IconAlertTriangle />} title={title} w="100%">
      <List size="sm" style={{ maxHeight: 260, overflow: 'auto' }} tabIndex={0}>
        {of.map((p, i) => (
          <List.Item key={i}>
            <span className={common.untrusted}>{remarkText(p)}</span> <span className={common.mono}>{p.code}</span>
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
