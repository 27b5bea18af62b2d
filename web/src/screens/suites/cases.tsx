// The cases in a table. A clicked cell is edited in place; the form has everything else.
import {
  ActionIcon,
  Alert,
  Badge,
  Box,
  Button,
  Group,
  Menu,
  Modal,
  Select,
  Stack,
  Text,
  TextInput,
  Tooltip,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core';
import {
  IconAlertTriangle,
  IconCircleX,
  IconClipboardText,
  IconCopy,
  IconDots,
  IconPencil,
  IconPlus,
  IconRepeat,
  IconSearch,
  IconTrash,
} from '@tabler/icons-react';
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { api, unwrap, problemOf } from '../../api/client';
import { useText } from '../../text';
import { Empty } from '../../ui/status';
import { CodeEditor } from '../../ui/code';
import { useParam } from '../../ui/params';
import { Rows } from '../../ui/table';
import { notify, undoable } from '../../ui/notify';
import { CaseDrawer } from './caseform';
import {
  type Case,
  type Editing,
  functionOf,
  namesOf,
  plainCase,
  type Remark,
  remarkText,
  type Tool,
  withCases,
} from './data';
import { emptyCase } from './draft';
import { SaveRefused } from './problems';
import common from '../../ui/common.module.css';

const tagsOf = (c: Case) => ((c.case as { tags?: unknown } | null | undefined)?.tags as string[] | undefined) ?? [];
const categoryOf = (c: Case) => c.category ?? ((c.case as { category?: string } | null | undefined)?.category || '');
const skips = (c: Case) => Boolean((c.case as { skip?: unknown } | null | undefined)?.skip);

export function CasesTab({ editing, problems }: { editing: Editing; problems: Remark[] }) {
  const t = useText();
  const { suite, may, write, hidden, hide } = editing;
  const [search, setSearch] = useParam('q');
  const [category, setCategory] = useParam('category');
  const [tag, setTag] = useParam('tag');
  const [open, setOpen] = useParam('case');
  const [, setParams] = useSearchParams();
  const [fresh, setFresh] = useState<Case | null>(null);
  const [pasting, setPasting] = useState(false);
  const [conflict, setConflict] = useState<unknown>(null);

  const categories = useMemo(
    () => [...new Set(suite.test_cases.map(categoryOf).filter(Boolean))].sort(),
    [suite.test_cases],
  );
  const tags = useMemo(() => [...new Set(suite.test_cases.flatMap(tagsOf))].sort(), [suite.test_cases]);
  const rows = useMemo(() => {
    const word = search.toLowerCase();
    return suite.test_cases.filter(
      (c) =>
        !hidden.has(c.id!) &&
        (category === '' || categoryOf(c) === category) &&
        (tag === '' || tagsOf(c).includes(tag)) &&
        (word === '' ||
          JSON.stringify([c.id, c.prompt, c.expected_tool, c.expected_params, c.category])
            .toLowerCase()
            .includes(word)),
    );
  }, [suite.test_cases, hidden, search, category, tag]);
  const byCase = useMemo(() => {
    const out = new Map<string, Remark[]>();
    for (const p of problems) if (p.case) out.set(p.case, [...(out.get(p.case) ?? []), p]);
    return out;
  }, [problems]);
  const toolNames = suite.tools.map((x) => functionOf(x as Tool).name).filter(Boolean);
  const opened = fresh ?? suite.test_cases.find((c) => c.id === open) ?? null;
  const close = () => {
    setFresh(null);
    setOpen(null);
  };

  const put = async (c: Case, change: Partial<Case>) => {
    const { id, ...rest } = plainCase(c);
    try {
      await write(
        async (match) =>
          unwrap(
            await api.PUT('/api/tool-suites/{id}/cases/{cid}', {
              params: { path: { id: suite.id, cid: id! }, header: { 'If-Match': match } },
              body: { ...rest, ...change } as Case,
            }),
          ),
        withCases,
      );
      setConflict(null);
    } catch (e) {
      if (problemOf(e).status === 412) setConflict(e);
      throw e;
    }
  };
  const drop = (c: Case) =>
    undoable(
      t,
      c.id!,
      () =>
        write(
          async (match) =>
            unwrap(
              await api.DELETE('/api/tool-suites/{id}/cases/{cid}', {
                params: { path: { id: suite.id, cid: c.id! }, header: { 'If-Match': match } },
              }),
            ),
          (was) => ({
            ...was,
            version: was.version + 1,
            test_cases: was.test_cases.filter((x) => x.id !== c.id),
            test_case_count: was.test_case_count - 1,
          }),
        ),
      { hide: () => hide(c.id!, true), show: () => hide(c.id!, false) },
    );
  /** inline: the fields contain everything of a case, so that changing one loses nothing. */
  const inline = (c: Case) => may && (c.not_carried ?? []).length === 0;

  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-end">
        <TextInput
          aria-label={t('suites.searchCases')}
          placeholder={t('suites.searchCases')}
          type="search"
          leftSection={<IconSearch size={16} aria-hidden />}
          w={{ base: '100%', xs: 260 }}
          value={search}
          onChange={(e) => setSearch(e.currentTarget.value, { replace: true })}
        />
        {categories.length > 0 && (
          <Select
            aria-label={t('suites.category')}
            placeholder={t('suites.anyCategory')}
            data={categories}
            value={category || null}
            clearable
            w={170}
            onChange={(v) => setCategory(v)}
            clearButtonProps={{ 'aria-label': t('suites.anyCategory') }}
          />
        )}
        {tags.length > 0 && (
          <Select
            aria-label={t('suites.tag')}
            placeholder={t('suites.anyTag')}
            data={tags}
            value={tag || null}
            clearable
            w={150}
            onChange={(v) => setTag(v)}
            clearButtonProps={{ 'aria-label': t('suites.anyTag') }}
          />
        )}
        <Text size="sm" c="dimmed" role="status" className={common.num} style={{ alignSelf: 'center' }}>
          {t('suites.shownCases', { n: rows.length, total: suite.test_cases.length - hidden.size })}
        </Text>
        {may && (
          <Group gap="xs" ml="auto">
            <Button
              variant="default"
              leftSection={<IconClipboardText size={16} aria-hidden />}
              onClick={() => setPasting(true)}
            >
              {t('suites.pasteCases')}
            </Button>
            <Button
              variant="light"
              leftSection={<IconPlus size={16} aria-hidden />}
              onClick={() => setFresh(emptyCase)}
            >
              {t('suites.addCase')}
            </Button>
          </Group>
        )}
      </Group>
      <SaveRefused of={conflict} editing={editing} done={() => setConflict(null)} />
      <Rows<Case>
        label={t('suites.cases')}
        rows={rows}
        idOf={(c) => c.id!}
        onOpen={(c) => setOpen(c.id!)}
        rowHeight={46}
        empty={
          search || category || tag ? (
            <Empty title={t('suites.noCaseMatch')}>
              <Button
                variant="default"
                onClick={() =>
                  setParams((was) => {
                    const next = new URLSearchParams(was);
                    for (const k of ['q', 'category', 'tag']) next.delete(k);
                    return next;
                  })
                }
              >
                {t('common.all')}
              </Button>
            </Empty>
          ) : (
            <Empty title={t('suites.noCasesTitle')} text={t('suites.noCasesText')} />
          )
        }
        columns={[
          {
            key: 'id',
            title: t('suites.caseId'),
            width: 170,
            cell: (c) => (
              <Group gap={6} wrap="nowrap">
                <UnstyledButton
                  className={`${common.mono} ${common.untrusted}`}
                  style={{ color: 'var(--mantine-color-anchor)' }}
                  aria-label={t('suites.openCase', { id: c.id! })}
                  onClick={() => setOpen(c.id!)}
                >
                  {c.id}
                </UnstyledButton>
                {Boolean(c.multi_turn) && (
                  <Tooltip label={t('suites.turns')}>
                    <IconRepeat
                      size={14}
                      style={{ flex: 'none', color: 'var(--cv-none)' }}
                      role="img"
                      aria-label={t('suites.turns')}
                    />
                  </Tooltip>
                )}
                <Marks of={byCase.get(c.id!)} id={c.id!} />
              </Group>
            ),
          },
          {
            key: 'prompt',
            title: t('suites.prompt'),
            min: 220,
            cell: (c) => (
              <Inline
                label={t('suites.editPrompt', { id: c.id! })}
                value={c.prompt ?? ''}
                may={inline(c) && !(c.prompt ?? '').includes('\n')}
                save={(prompt) => put(c, { prompt })}
                open={() => setOpen(c.id!)}
              />
            ),
          },
          {
            key: 'tool',
            title: t('suites.expects'),
            width: 160,
            cell: (c) => (
              <InlineTool
                label={t('suites.editTool', { id: c.id! })}
                of={c}
                names={toolNames}
                may={inline(c)}
                save={(tool) => put(c, { expected_tool: tool as never })}
              />
            ),
          },
          {
            key: 'params',
            title: t('suites.params'),
            width: 210,
            cell: (c) => (
              <Inline
                label={t('suites.editParams', { id: c.id! })}
                mono
                value={
                  c.expected_params === null || c.expected_params === undefined ? '' : JSON.stringify(c.expected_params)
                }
                may={inline(c)}
                open={() => setOpen(c.id!)}
                shown={
                  c.expected_params === null || c.expected_params === undefined
                    ? t('suites.notScored')
                    : Object.keys(c.expected_params).length === 0
                      ? t('suites.noneExpected')
                      : undefined
                }
                check={(x) => paramsOf(x, t)}
                save={(x) => put(c, { expected_params: (x.trim() === '' ? null : JSON.parse(x)) as never })}
              />
            ),
          },
          {
            key: 'category',
            title: t('suites.category'),
            width: 120,
            cell: (c) => (
              <Group gap={4}>
                {categoryOf(c) && (
                  <Text size="sm" c="dimmed" className={common.untrusted}>
                    {categoryOf(c)}
                  </Text>
                )}
                {skips(c) && <Badge color="gray">{t('suites.skipped')}</Badge>}
                {tagsOf(c)
                  .slice(0, 2)
                  .map((x) => (
                    <Badge key={x} color="gray" className={common.untrusted}>
                      {x}
                    </Badge>
                  ))}
              </Group>
            ),
          },
          ...(may
            ? [
                {
                  key: 'actions',
                  title: <VisuallyHidden>{t('common.actions')}</VisuallyHidden>,
                  width: 84,
                  align: 'right' as const,
                  corner: 'right' as const,
                  cell: (c: Case) => (
                    <Group gap={0} wrap="nowrap" justify="flex-end">
                      <ActionIcon
                        variant="subtle"
                        color="gray"
                        aria-label={t('suites.editCase', { id: c.id! })}
                        onClick={() => setOpen(c.id!)}
                      >
                        <IconPencil size={16} aria-hidden />
                      </ActionIcon>
                      <Menu position="bottom-end">
                        <Menu.Target>
                          <ActionIcon variant="subtle" color="gray" aria-label={`${t('suites.moreActions')}: ${c.id}`}>
                            <IconDots size={16} aria-hidden />
                          </ActionIcon>
                        </Menu.Target>
                        <Menu.Dropdown>
                          <Menu.Item
                            leftSection={<IconCopy size={16} aria-hidden />}
                            onClick={() => setFresh({ ...c, id: undefined })}
                          >
                            {t('suites.duplicate', { id: c.id! })}
                          </Menu.Item>
                          <Menu.Item leftSection={<IconTrash size={16} aria-hidden />} onClick={() => drop(c)}>
                            {t('suites.deleteCaseNamed', { name: c.id! })}
                          </Menu.Item>
                        </Menu.Dropdown>
                      </Menu>
                    </Group>
                  ),
                },
              ]
            : []),
        ]}
      />
      <CaseDrawer of={opened} isNew={fresh !== null} editing={editing} close={close} saved={close} />
      <Modal opened={pasting} onClose={() => setPasting(false)} title={t('suites.pasteTitle')} size="lg">
        {pasting && <Paste editing={editing} done={() => setPasting(false)} />}
      </Modal>
    </Stack>
  );
}

function paramsOf(text: string, t: ReturnType<typeof useText>): string | null {
  if (text.trim() === '') return null;
  try {
    const v = JSON.parse(text) as unknown;
    return v === null || (typeof v === 'object' && !Array.isArray(v)) ? null : t('suites.needObject');
  } catch (e) {
    return t('suites.badJson', { text: e instanceof Error ? e.message : String(e) });
  }
}

function Marks({ of, id }: { of: Remark[] | undefined; id: string }) {
  const t = useText();
  if (!of) return null;
  const bad = of.some((p) => !p.warning);
  const text = of.map(remarkText).join('\n');
  return (
    <Tooltip
      label={<span style={{ whiteSpace: 'pre-wrap' }}>{text}</span>}
      multiline
      maw={420}
      events={{ hover: true, focus: true, touch: true }}
    >
      <Box
        component="span"
        tabIndex={0}
        role="img"
        aria-label={t('suites.problemsOf', { id, text })}
        style={{ display: 'inline-flex', color: bad ? 'var(--cv-fail)' : 'var(--cv-error)', flex: 'none' }}
      >
        {bad ? <IconCircleX size={15} aria-hidden /> : <IconAlertTriangle size={15} aria-hidden />}
      </Box>
    </Tooltip>
  );
}

type InlineProps = {
  label: string;
  value: string;
  shown?: string;
  mono?: boolean;
  may: boolean;
  check?: (x: string) => string | null;
  save: (x: string) => Promise<void>;
  open: () => void;
};

/** Inline is a text that becomes an input when it is clicked. The input stays until it is saved or abandoned. */
function Inline({ label, value, shown, mono, may, check, save, open }: InlineProps) {
  const t = useText();
  const [draft, setDraft] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const back = useRef(false);
  useEffect(() => {
    if (draft === null && back.current) {
      back.current = false;
      button.current?.focus();
    }
  }, [draft]);
  if (draft === null) {
    return (
      <Box style={{ display: 'grid' }}>
        <UnstyledButton
          ref={button}
          className={
            mono ? `${common.mono} ${common.untrusted} ${common.inline}` : `${common.untrusted} ${common.inline}`
          }
          c={shown ? 'dimmed' : undefined}
          aria-label={`${may ? label : ''} ${shown ?? value}`.trim()}
          title={value || undefined}
          onClick={() => (may ? setDraft(value) : open())}
        >
          {shown ?? (value || '–')}
        </UnstyledButton>
      </Box>
    );
  }
  const finish = async (focus: boolean) => {
    if (busy) return;
    if (draft === value) {
      back.current = focus;
      setError(null);
      return setDraft(null);
    }
    const bad = check?.(draft) ?? null;
    if (bad) return setError(bad);
    setBusy(true);
    try {
      await save(draft);
      back.current = focus;
      setError(null);
      setDraft(null);
    } catch (e) {
      const p = problemOf(e);
      setError(p.fields.map((f) => f.text).join('\n') || p.message);
    } finally {
      setBusy(false);
    }
  };
  const key = (e: KeyboardEvent) => {
    if (e.key === 'Enter') {
      e.preventDefault();
      finish(true);
    }
    if (e.key === 'Escape') {
      e.stopPropagation();
      back.current = true;
      setError(null);
      setDraft(null);
    }
  };
  return (
    <TextInput
      aria-label={label}
      title={t('suites.inlineHelp')}
      size="xs"
      autoFocus
      value={draft}
      disabled={busy}
      error={error && <span className={common.untrusted}>{error}</span>}
      classNames={{ input: mono ? common.mono : undefined }}
      onChange={(e) => setDraft(e.currentTarget.value)}
      onKeyDown={key}
      onBlur={() => finish(false)}
    />
  );
}

/** InlineTool is the expected tool; several are chosen in the form. */
function InlineTool({
  label,
  of,
  names,
  may,
  save,
}: {
  label: string;
  of: Case;
  names: string[];
  may: boolean;
  save: (tool: string | null) => Promise<void>;
}) {
  const t = useText();
  const [open, setOpen] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const expected = namesOf(of);
  const shown =
    expected.length === 0
      ? of.case && (of.not_carried ?? []).length > 0
        ? t('suites.ownForm')
        : t('suites.noTool')
      : expected.length === 1
        ? expected[0]!
        : t('suites.callsSeveral', { names: expected.join(', ') });
  if (!open || !may || expected.length > 1) {
    return (
      <Box style={{ display: 'grid' }}>
        {may && expected.length < 2 ? (
          <UnstyledButton
            className={`${common.mono} ${common.untrusted} ${common.inline}`}
            c={expected.length === 0 ? 'dimmed' : undefined}
            aria-label={`${label}: ${shown}`}
            title={shown}
            onClick={() => setOpen(true)}
          >
            {shown}
          </UnstyledButton>
        ) : (
          <span className={`${common.mono} ${common.untrusted}`}>{shown}</span>
        )}
      </Box>
    );
  }
  const choose = async (v: string | null) => {
    const tool = v === noTool ? null : v;
    if (v === null || tool === (expected[0] ?? null)) return setOpen(false);
    try {
      await save(tool);
      setError(null);
      setOpen(false);
    } catch (e) {
      const p = problemOf(e);
      setError(p.fields.map((f) => f.text).join('\n') || p.message);
    }
  };
  return (
    <Select
      aria-label={label}
      size="xs"
      autoFocus
      defaultDropdownOpened
      searchable
      allowDeselect={false}
      value={expected[0] ?? noTool}
      error={error && <span className={common.untrusted}>{error}</span>}
      data={[
        { value: noTool, label: t('suites.noTool') },
        ...[...new Set([...names, ...expected])].map((n) => ({ value: n, label: n })),
      ]}
      onChange={choose}
      onDropdownClose={() => !error && setOpen(false)}
      onKeyDown={(e) => e.key === 'Escape' && (setError(null), setOpen(false))}
    />
  );
}

/** noTool is the choice of no tool; no tool can have the name. */
const noTool = ' ';

/** Paste adds a case for each line of JSON. */
function Paste({ editing, done }: { editing: Editing; done: () => void }) {
  const t = useText();
  const { suite, write } = editing;
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [tried, setTried] = useState(false);
  const { list, bad } = useMemo(() => {
    const list: { line: number; value: Case }[] = [];
    const bad: { line: number; text: string }[] = [];
    text.split('\n').forEach((line, i) => {
      if (line.trim() === '') return;
      try {
        const v = JSON.parse(line) as Case;
        if (v && typeof v === 'object' && !Array.isArray(v)) list.push({ line: i + 1, value: v });
        else bad.push({ line: i + 1, text: t('suites.needObject') });
      } catch (e) {
        bad.push({ line: i + 1, text: t('suites.badJson', { text: e instanceof Error ? e.message : String(e) }) });
      }
    });
    return { list, bad };
  }, [text, t]);
  const refused = error
    ? problemOf(error).fields.map((f) => ({
        line: list[Number(/^body\[(\d+)\]/.exec(f.place)?.[1] ?? -1)]?.line ?? 0,
        text: `${f.place.replace(/^body(\[\d+\])?\.?/, '')} ${f.text}`.trim(),
      }))
    : [];
  const shown = [...(tried ? bad : []), ...refused];
  const add = async () => {
    setTried(true);
    setError(null);
    if (bad.length > 0 || list.length === 0) return;
    setBusy(true);
    try {
      const answer = await write(
        async (match) =>
          unwrap(
            await api.POST('/api/tool-suites/{id}/cases', {
              params: { path: { id: suite.id }, header: { 'If-Match': match } },
              body: list.map((x) => x.value) as never,
            }),
          ),
        withCases,
      );
      notify(t('suites.addedCases', { n: answer.test_cases.length }));
      done();
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t('suites.pasteText')}
      </Text>
      <CodeEditor
        label={t('suites.pasteLabel')}
        value={text}
        onChange={setText}
        language="text"
        height={260}
        marks={shown
          .filter((x) => x.line > 0)
          .map((x) => ({ line: x.line, column: 1, severity: 'error' as const, text: x.text }))}
      />
      {shown.length > 0 ? (
        <Alert color="red" role="alert">
          {shown.slice(0, 50).map((x, i) => (
            <Text key={i} size="sm" className={common.untrusted}>
              {x.line > 0 ? t('suites.pasteBad', { line: x.line, text: x.text }) : x.text}
            </Text>
          ))}
        </Alert>
      ) : (
        <SaveRefused of={error} editing={editing} done={() => setError(null)} />
      )}
      <Group justify="flex-end">
        <Button onClick={add} loading={busy} disabled={text.trim() === ''}>
          {t('suites.addThem', { n: list.length })}
        </Button>
      </Group>
    </Stack>
  );
}
