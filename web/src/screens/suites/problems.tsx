// Problems that the linter found, and reasons why a write was refused.
import { Alert, Badge, Box, Button, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconCircleX } from '@tabler/icons-react';
import { useState } from 'react';
import { $api, problemOf, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { translate } from '../../text/translate';
import { Failure } from '../../ui/status';
import { notify } from '../../ui/notify';
import type { Editing, Lint, Remark } from './data';
import { DiffView } from './diff';
import common from '../../ui/common.module.css';

/** ProblemCounts shows the numbers of errors and warnings. */
export function ProblemCounts({ of }: { of: Remark[] }) {
  const t = useText();
  const warnings = of.filter((p) => p.warning).length;
  const errors = of.length - warnings;
  return (
    <Group gap={6}>
      {errors > 0 && (
        <Badge
          leftSection={<IconCircleX size={14} aria-hidden />}
          style={{ color: 'var(--cv-fail)', background: 'var(--cv-fail-ground)' }}
        >
          {errors === 1 ? t('suites.errorCount') : t('suites.errorsCount', { n: errors })}
        </Badge>
      )}
      {warnings > 0 && (
        <Badge
          leftSection={<IconAlertTriangle size={14} aria-hidden />}
          style={{ color: 'var(--cv-error)', background: 'var(--cv-error-ground)' }}
        >
          {warnings === 1 ? t('suites.warningCount') : t('suites.warningsCount', { n: warnings })}
        </Badge>
      )}
    </Group>
  );
}

/**
 * Problems lists the linter's problems. The shown text begins after skip lines of the linted text, and has lines lines.
 */
export function Problems({
  lint,
  go,
  skip = 0,
  lines = Number.POSITIVE_INFINITY,
  quiet = false,
}: {
  lint: Lint;
  go?: (line: number, column: number) => void;
  skip?: number;
  lines?: number;
  quiet?: boolean;
}) {
  const t = useText();
  const errorsFirst = [...lint.problems].sort((a, b) => Number(a.warning) - Number(b.warning));
  return (
    <Stack gap={6} aria-busy={lint.busy} data-lint={lint.busy ? 'busy' : 'done'}>
      <Group gap="xs" role="status" mih={24}>
        {lint.busy ? (
          <Text size="sm" c="dimmed">
            {t('suites.linting')}
          </Text>
        ) : lint.problems.length > 0 ? (
          <ProblemCounts of={lint.problems} />
        ) : (
          lint.of !== '' &&
          !quiet && (
            <Group gap={6} style={{ color: 'var(--cv-pass)' }}>
              <IconCircleCheck size={16} aria-hidden />
              <Text size="sm">{t('suites.noProblems')}</Text>
            </Group>
          )
        )}
      </Group>
      {errorsFirst.length > 0 && (
        <Box
          component="ul"
          m={0}
          p={0}
          style={{ listStyle: 'none', maxHeight: 280, overflow: 'auto' }}
          tabIndex={0}
          aria-label={t('suites.problems')}
        >
          {errorsFirst.slice(0, 200).map((p, i) => {
            const line = (p.line ?? 0) - skip;
            const here = p.line !== undefined && line > 0 && line <= lines;
            return (
              <Group
                key={i}
                component="li"
                gap="sm"
                wrap="nowrap"
                align="flex-start"
                py={5}
                data-problem={p.code}
                data-line={here ? line : 0}
                data-column={here ? (p.column ?? 0) : 0}
                data-warning={p.warning}
                style={{ borderTop: i > 0 ? '1px solid var(--cv-line)' : undefined }}
              >
                {p.warning ? (
                  <IconAlertTriangle
                    size={16}
                    style={{ flex: 'none', marginTop: 2, color: 'var(--cv-error)' }}
                    aria-label={t('suites.warning')}
                  />
                ) : (
                  <IconCircleX
                    size={16}
                    style={{ flex: 'none', marginTop: 2, color: 'var(--cv-fail)' }}
                    aria-label={t('suites.error')}
                  />
                )}
                <Box style={{ flex: 1, minWidth: 0 }}>
                  <Text size="sm" className={common.untrusted} component="span">
                    <span data-message>{translate(p.message)}</span>
                    {p.fix && (
                      <Text span c="dimmed" size="sm">
                        {' '}
                        ({translate(p.fix)})
                      </Text>
                    )}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {here
                      ? t('suites.place', { line, column: p.column ?? 1 })
                      : p.case
                        ? t('suites.inCase', { id: p.case })
                        : skip > 0
                          ? t('suites.notHere')
                          : ''}{' '}
                    <span className={common.mono}>{p.code}</span>
                  </Text>
                </Box>
                {go && here && (
                  <Button
                    size="compact-xs"
                    variant="subtle"
                    aria-label={t('suites.goThereOf', { line })}
                    onClick={() => go(line, p.column ?? 1)}
                  >
                    {t('suites.goThere')}
                  </Button>
                )}
              </Group>
            );
          })}
        </Box>
      )}
    </Stack>
  );
}

/** SaveRefused shows why a write was refused. After a conflict it shows the other change, and how to go on. */
export function SaveRefused({ of, editing, done }: { of: unknown; editing: Editing; done: () => void }) {
  if (!of) return null;
  return problemOf(of).status === 412 ? <Conflict editing={editing} done={done} /> : <Failure of={of} />;
}

function Conflict({ editing: { suite, load }, done }: { editing: Editing; done: () => void }) {
  const t = useText();
  const [show, setShow] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const reload = async () => {
    setBusy(true);
    try {
      const now = await load();
      notify(t('suites.loaded', { version: now.version }));
      done();
    } catch (e) {
      setError(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Alert color="yellow" icon={<IconAlertTriangle />} title={t('suites.conflict')} role="alert">
      <Text size="sm">{t('suites.conflictText', { version: suite.version })}</Text>
      <Group gap="xs" mt="sm">
        <Button size="xs" loading={busy} onClick={reload}>
          {t('suites.loadNewest')}
        </Button>
        <Button size="xs" variant="default" aria-expanded={show} onClick={() => setShow(!show)}>
          {t('suites.whatChanged', { version: suite.version })}
        </Button>
      </Group>
      <Failure of={error} />
      {show && (
        <Box mt="sm">
          <Difference id={suite.id} from={suite.version} />
        </Box>
      )}
    </Alert>
  );
}

function Difference({ id, from }: { id: string; from: number }) {
  const newest = $api.useQuery(
    'get',
    '/api/tool-suites/{id}/versions',
    { params: { path: { id }, query: { limit: 1 } } },
    { gcTime: 0, staleTime: 0 },
  );
  const to = newest.data?.items?.[0]?.version;
  if (newest.error) return <Failure of={newest.error} />;
  return to === undefined ? null : <DiffView id={id} from={from} to={to} />;
}

/**
 * fieldErrors returns the server's errors by field: body.test_cases[0].prompt belongs to prompt. rest has the errors of
 * fields outside known.
 */
export function fieldErrors(
  e: unknown,
  known: string[],
): { fields: Record<string, string>; rest: Schemas['ErrorDetail'][] } {
  const fields: Record<string, string> = {};
  const rest: Schemas['ErrorDetail'][] = [];
  if (e) {
    for (const f of problemOf(e).fields) {
      const name = f.place.replace(/^body\.?(\[\d+\]\.?|test_cases\[\d+\]\.?|cases\[\d+\]\.?)?/, '').split(/[.[]/)[0]!;
      const inside = f.place.slice(f.place.indexOf(name) + name.length).replace(/^\./, '');
      if (known.includes(name))
        fields[name] = [fields[name], inside ? `${inside}: ${f.text}` : f.text].filter(Boolean).join('\n');
      else rest.push({ location: f.place, message: f.text });
    }
  }
  return { fields, rest };
}
