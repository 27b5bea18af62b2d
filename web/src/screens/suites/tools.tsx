// The tools: a list of them, and an editor of one or of all as JSON, linted with the suite's cases.
import { ActionIcon, Box, Button, Drawer, Group, Stack, Table, Text } from '@mantine/core';
import { IconBraces, IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useEffect, useLayoutEffect, useMemo, useState } from 'react';
import { api, unwrap } from '../../api/client';
import { useText } from '../../text';
import { en } from '../../text/en';
import { Empty } from '../../ui/status';
import { CodeEditor } from '../../ui/code';
import { useParam } from '../../ui/params';
import { notify, undoable } from '../../ui/notify';
import { useLeave } from '../../ui/unsaved';
import {
  type Editing,
  functionOf,
  marksOf,
  namesOf,
  propertiesOf,
  type Suite,
  type Tool,
  useFraming,
  useLint,
} from './data';
import { Problems, SaveRefused } from './problems';
import common from '../../ui/common.module.css';
import { PlainTable } from '../../ui/datatable';
import tables from '../../ui/stacked.module.css';

const everything = '*';
const newOne = '+';
const template = {
  type: 'function',
  function: { name: '', description: '', parameters: { type: 'object', properties: {}, required: [] } },
};

/** useToolCompletions returns the words of JSON Schema and of the function form, for completion. */
export function useToolCompletions() {
  const t = useText();
  return useMemo(
    () =>
      (Object.keys(en.suites.words) as (keyof typeof en.suites.words)[]).map((label) => ({
        label,
        detail: t(`suites.words.${label}`),
      })),
    [t],
  );
}

/** putTools writes all tools of a suite. */
export function putTools(editing: Editing, change: (tools: Tool[]) => Tool[]): Promise<Suite> {
  const { suite, write } = editing;
  return write(
    async (match, now) =>
      unwrap(
        await api.PATCH('/api/tool-suites/{id}', {
          params: { path: { id: suite.id }, header: { 'If-Match': match } },
          body: { tools: change(now.tools as Tool[]) },
        }),
      ),
    (_, answer) => answer,
  );
}

export function ToolsTab({ editing }: { editing: Editing }) {
  const t = useText();
  const { suite, may, hidden, hide } = editing;
  const [open, setOpen] = useParam('tool');
  const tools = suite.tools as Tool[];
  const expected = useMemo(() => {
    const out = new Map<string, number>();
    for (const c of suite.test_cases)
      for (const n of namesOf(c)) out.set(n.toLowerCase(), (out.get(n.toLowerCase()) ?? 0) + 1);
    return out;
  }, [suite.test_cases]);
  const shown = tools
    .map((tool, at) => ({ tool, at, ...functionOf(tool) }))
    .filter((x) => !hidden.has(`tool:${x.name}`));
  const drop = (name: string) =>
    undoable(
      t,
      name,
      () =>
        putTools(editing, (list) => list.filter((x) => functionOf(x).name !== name)).finally(() =>
          hide(`tool:${name}`, false),
        ),
      { hide: () => hide(`tool:${name}`, true), show: () => hide(`tool:${name}`, false) },
    );
  return (
    <Stack gap="sm">
      {may && (
        <Group gap="xs" justify="flex-end">
          <Button
            variant="default"
            leftSection={<IconBraces size={16} aria-hidden />}
            onClick={() => setOpen(everything)}
          >
            {t('suites.allTools')}
          </Button>
          <Button variant="light" leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setOpen(newOne)}>
            {t('suites.addTool')}
          </Button>
        </Group>
      )}
      {shown.length === 0 ? (
        <Empty title={t('suites.noToolsTitle')} text={t('suites.noToolsText')} />
      ) : (
        <Box
          data-scroll
          className={`${common.card} ${tables.scrollX}`}
          role="region"
          aria-label={t('suites.tools')}
          tabIndex={0}
        >
          <PlainTable
            miw={640}
            highlightOnHover
            verticalSpacing={8}
            heads={[
              { title: t('suites.toolName'), w: 210 },
              t('suites.description'),
              { title: t('suites.parameters'), w: 230 },
              { title: t('suites.expectedBy'), w: 130, right: true },
              { title: t('common.actions'), w: 84, hidden: true },
            ]}
          >
            {shown.map(({ tool, at, name, description }) => {
              const n = expected.get(name.toLowerCase()) ?? 0;
              const p = propertiesOf(tool);
              return (
                <Table.Tr key={`${at} ${name}`} style={{ verticalAlign: 'top' }}>
                  <Table.Td className={`${common.mono} ${common.untrusted}`} style={{ fontWeight: 600 }}>
                    {name}
                  </Table.Td>
                  <Table.Td>
                    <Text size="sm" className={common.untrusted} c={description ? undefined : 'dimmed'} lineClamp={3}>
                      {description || t('suites.noDescription')}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    <Text size="xs" className={`${common.mono} ${common.untrusted}`} lineClamp={3}>
                      {p.names.map((x, i) => (
                        <span key={x}>
                          {i > 0 && ', '}
                          {p.required.includes(x) ? <b title={t('suites.required')}>{x}*</b> : x}
                        </span>
                      ))}
                      {p.names.length === 0 && '–'}
                    </Text>
                  </Table.Td>
                  <Table.Td ta="right">
                    <Text size="sm" className={common.num} c={n === 0 ? 'dimmed' : undefined}>
                      {n === 1 ? t('suites.caseOne') : t('suites.casesN', { n })}
                    </Text>
                  </Table.Td>
                  <Table.Td>
                    <Group gap={0} wrap="nowrap" justify="flex-end">
                      <ActionIcon
                        variant="subtle"
                        color="gray"
                        aria-label={t('suites.editTool2', { name })}
                        onClick={() => setOpen(name)}
                      >
                        <IconPencil size={16} aria-hidden />
                      </ActionIcon>
                      {may && (
                        <ActionIcon
                          variant="subtle"
                          color="gray"
                          aria-label={t('suites.deleteToolNamed', { name })}
                          onClick={() => drop(name)}
                        >
                          <IconTrash size={16} aria-hidden />
                        </ActionIcon>
                      )}
                    </Group>
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </PlainTable>
        </Box>
      )}
      <ToolDrawer which={open} editing={editing} close={() => setOpen(null)} />
    </Stack>
  );
}

function ToolDrawer({ which, editing, close }: { which: string; editing: Editing; close: () => void }) {
  const t = useText();
  const [dirty, setDirty] = useState(false);
  const { pass, leave } = useLeave(dirty, close);
  const title =
    which === everything
      ? t('suites.allTools')
      : which === newOne
        ? t('suites.newTool')
        : t('suites.editTool2', { name: which });
  return (
    <Drawer
      opened={which !== ''}
      onClose={leave}
      position="right"
      size="min(760px, 100vw)"
      title={title}
      styles={{ title: { fontWeight: 600, overflowWrap: 'anywhere' } }}
      closeOnClickOutside={!dirty}
    >
      {which !== '' && (
        <ToolForm
          key={which}
          which={which}
          editing={editing}
          dirty={setDirty}
          leave={leave}
          close={() => pass(close)}
        />
      )}
    </Drawer>
  );
}

function ToolForm({
  which,
  editing,
  dirty,
  leave,
  close,
}: {
  which: string;
  editing: Editing;
  dirty: (d: boolean) => void;
  leave: () => void;
  close: () => void;
}) {
  const t = useText();
  const { suite, may } = editing;
  const all = which === everything;
  const [at] = useState(() => (suite.tools as Tool[]).findIndex((x) => functionOf(x).name === which));
  const [first] = useState(() => JSON.stringify(all ? suite.tools : at >= 0 ? suite.tools[at] : template, null, 2));
  const [text, setText] = useState(first);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [spot, setSpot] = useState<{ line: number; column: number }>();
  const words = useToolCompletions();
  const changed = text !== first;
  useLayoutEffect(() => dirty(changed), [changed, dirty]);
  useEffect(() => () => dirty(false), [dirty]);

  const framing = useFraming(editing);
  // The linter reads all tools: those before and after this one surround its text.
  const before = all
    ? ''
    : `[\n${(suite.tools as Tool[])
        .slice(0, at < 0 ? suite.tools.length : at)
        .map((x) => `${JSON.stringify(x)},`)
        .join('')}\n`;
  const after = all
    ? ''
    : `${
        at < 0
          ? ''
          : (suite.tools as Tool[])
              .slice(at + 1)
              .map((x) => `,${JSON.stringify(x)}`)
              .join('')
      }]`;
  const linted = useLint(framing ? framing.ofTools(`${before}${text}${all ? '' : `\n${after}`}`) : null);
  // cases may be added later
  const lint = useMemo(() => ({ ...linted, problems: linted.problems.filter((p) => p.code !== 'no-cases') }), [linted]);
  const skip = all ? 1 : 3;
  const lines = text.split('\n').length;

  const save = async () => {
    setError(null);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (e) {
      return setError(new Error(t('suites.badJson', { text: e instanceof Error ? e.message : String(e) })));
    }
    if (all && !Array.isArray(value)) return setError(new Error(t('suites.toolsNeedList')));
    if (!all && (typeof value !== 'object' || value === null || Array.isArray(value)))
      return setError(new Error(t('suites.needObject')));
    setBusy(true);
    try {
      const now = await putTools(editing, (list) => {
        if (all) return value as Tool[];
        const here = list.findIndex((x) => functionOf(x).name === which);
        return here < 0 ? [...list, value as Tool] : list.map((x, i) => (i === here ? (value as Tool) : x));
      });
      notify(t('suites.saved', { version: now.version }));
      dirty(false);
      close();
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {t('suites.toolHelp')}
      </Text>
      <CodeEditor
        label={all ? t('suites.toolsLabel') : t('suites.toolLabel')}
        value={text}
        onChange={setText}
        language="json"
        height={all ? '55vh' : 380}
        readOnly={!may}
        words={words}
        marks={marksOf(lint.problems, skip, lines)}
        at={spot}
      />
      <Problems lint={lint} skip={skip} lines={lines} go={(line, column) => setSpot({ line, column })} />
      <SaveRefused of={error} editing={editing} done={() => setError(null)} />
      <Group justify="flex-end">
        <Button variant="default" onClick={leave}>
          {may ? t('common.cancel') : t('common.close')}
        </Button>
        {may && (
          <Button onClick={save} loading={busy} disabled={!changed}>
            {all ? t('suites.saveTools') : t('suites.saveTool')}
          </Button>
        )}
      </Group>
    </Stack>
  );
}
