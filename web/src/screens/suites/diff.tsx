// Changes between two versions: tools and cases, with the old and new value of each field.
import { Badge, Box, Group, Stack, Text, Title } from '@mantine/core';
import { $api } from '../../api/client';
import { useText } from '../../text';
import { Failure, Loading } from '../../ui/status';
import { type Case, functionOf, type Suite, type Tool } from './data';
import common from '../../ui/common.module.css';

export function DiffView({ id, from, to }: { id: string; from: number; to: number }) {
  const t = useText();
  const diff = $api.useQuery('get', '/api/tool-suites/{id}/versions/{version}/diff', {
    params: { path: { id, version: from }, query: { to } },
  });
  const was = $api.useQuery('get', '/api/tool-suites/{id}/versions/{version}', {
    params: { path: { id, version: from } },
  });
  const is = $api.useQuery('get', '/api/tool-suites/{id}/versions/{version}', {
    params: { path: { id, version: to } },
  });
  const error = diff.error ?? was.error ?? is.error;
  if (error) return <Failure of={error} />;
  if (!diff.data || !was.data || !is.data) return <Loading />;
  const { suite, tools, cases } = diff.data;
  const parts = [
    {
      title: t('suites.tools'),
      changes: tools,
      of: (s: Suite, name: string) => s.tools.find((x) => functionOf(x as Tool).name === name) as Tool | undefined,
    },
    {
      title: t('suites.cases'),
      changes: cases,
      of: (s: Suite, name: string) => s.test_cases.find((x) => x.id === name),
    },
  ].filter(({ changes: c }) => (c.added?.length ?? 0) + (c.removed?.length ?? 0) + (c.changed?.length ?? 0) > 0);
  if (!suite?.length && parts.length === 0) return <Text c="dimmed">{t('suites.same')}</Text>;
  return (
    <Stack gap="md" data-diff={`${from}-${to}`}>
      {suite && suite.length > 0 && (
        <Part title={t('suites.ofSuite')}>
          {suite.map((f) => (
            <Field
              key={f}
              name={f}
              was={(was.data as Record<string, unknown>)[f]}
              is={(is.data as Record<string, unknown>)[f]}
            />
          ))}
        </Part>
      )}
      {parts.map(({ title, changes, of }) => (
        <Part key={title} title={title}>
          {(changes.added ?? []).map((n) => (
            <Named key={`+${n}`} kind="added" name={n}>
              <Value of={plain(of(is.data, n))} kind="added" />
            </Named>
          ))}
          {(changes.removed ?? []).map((n) => (
            <Named key={`-${n}`} kind="removed" name={n}>
              <Value of={plain(of(was.data, n))} kind="removed" />
            </Named>
          ))}
          {(changes.changed ?? []).map((c) => (
            <Named key={c.name} kind="changed" name={c.name}>
              {(c.fields ?? []).map((f) => (
                <Field key={f} name={f} was={field(of(was.data, c.name), f)} is={field(of(is.data, c.name), f)} />
              ))}
            </Named>
          ))}
        </Part>
      ))}
    </Stack>
  );
}

/** field returns a field of a case or a tool: of callvet's own form, or of the function. */
function field(of: Case | Tool | undefined, name: string): unknown {
  if (!of) return undefined;
  const o = of as Record<string, unknown>;
  for (const at of [o, o.case, o.function])
    if (at && typeof at === 'object' && name in at) return (at as Record<string, unknown>)[name];
  return undefined;
}

function plain(of: Case | Tool | undefined): unknown {
  const c = of as Case | undefined;
  return c?.case ?? of;
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <Box>
      <Title order={3} mb={4}>
        {title}
      </Title>
      <Stack gap="sm">{children}</Stack>
    </Box>
  );
}

function Named({
  kind,
  name,
  children,
}: {
  kind: 'added' | 'removed' | 'changed';
  name: string;
  children: React.ReactNode;
}) {
  const t = useText();
  const look = {
    added: ['var(--cv-pass)', 'var(--cv-pass-ground)'],
    removed: ['var(--cv-fail)', 'var(--cv-fail-ground)'],
    changed: ['var(--cv-none)', 'var(--cv-none-ground)'],
  }[kind];
  return (
    <Box>
      <Group gap="xs" mb={4}>
        <Badge style={{ color: look[0], background: look[1] }}>
          {t(kind === 'added' ? 'suites.added' : kind === 'removed' ? 'suites.removed' : 'suites.changedThings')}
        </Badge>
        <Text fw={600} size="sm" className={common.untrusted}>
          {name}
        </Text>
      </Group>
      <Stack gap={4}>{children}</Stack>
    </Box>
  );
}

function Field({ name, was, is }: { name: string; was: unknown; is: unknown }) {
  return (
    <Box>
      <Text size="xs" c="dimmed" className={common.mono}>
        {name}
      </Text>
      <Value of={was} kind="removed" />
      <Value of={is} kind="added" />
    </Box>
  );
}

function Value({ of, kind }: { of: unknown; kind: 'added' | 'removed' }) {
  const t = useText();
  const text =
    of === undefined || of === '' ? t('suites.nothing') : typeof of === 'string' ? of : JSON.stringify(of, null, 1);
  return (
    <Box
      style={{
        background: kind === 'added' ? 'var(--cv-added)' : 'var(--cv-removed)',
        borderRadius: 4,
        padding: '2px 8px',
        display: 'flex',
        gap: 8,
      }}
      className={common.mono}
    >
      <span aria-label={t(kind === 'added' ? 'suites.after' : 'suites.before')} role="img">
        {kind === 'added' ? '+' : '−'}
      </span>
      <span
        className={common.untrusted}
        style={{ maxHeight: 240, overflow: 'auto', flex: 1 }}
        tabIndex={text.length > 600 ? 0 : undefined}
      >
        {text}
      </span>
    </Box>
  );
}
