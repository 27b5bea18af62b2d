// A case of a run becomes a case of a suite: with a tier, and with the bug that it guards against.
import { Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { Link } from 'react-router';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { useText } from '../../text';
import { translate } from '../../text/translate';
import { useAction } from '../../ui/action';
import { Failure } from '../../ui/status';
import common from '../../ui/common.module.css';

type Tier = 'regression' | 'golden' | 'labeled' | '';

export function AddToSuite({
  run,
  name,
  target,
  close,
}: {
  run: string;
  name: string;
  target: string;
  close: () => void;
}) {
  const t = useText();
  const invalidate = useInvalidate();
  const { busy, error, act } = useAction();
  const [search, setSearch] = useState('');
  const [asked] = useDebouncedValue(search, 200);
  const [suite, setSuite] = useState<string | null>(null);
  const [tier, setTier] = useState<Tier>('regression');
  const [bug, setBug] = useState('');
  const [added, setAdded] = useState<Schemas['CaseAdded']>();
  const list = $api.useQuery(
    'get',
    '/api/tool-suites',
    { params: { query: { limit: 50, search: asked || undefined } } },
    { placeholderData: (before) => before },
  );
  const suites = (list.data?.items ?? []).map((s) => ({ value: s.id, label: s.name }));
  const add = () =>
    act(async () => {
      setAdded(
        unwrap(
          await api.POST('/api/runs/{id}/case/suite', {
            params: { path: { id: run } },
            body: { case: name, target, suite_id: suite ?? '', tier, bug: bug.trim() || undefined },
          }),
        ),
      );
      await invalidate.all();
    });
  return (
    <Modal opened onClose={close} title={t('results.addToSuite')}>
      {added ? (
        <Stack gap="sm" role="status">
          <Text size="sm">
            {t('results.caseAdded')}{' '}
            <Link
              className={`${common.mono} ${common.untrusted}`}
              to={`/suites/${added.suite_id}?case=${encodeURIComponent(added.id)}`}
            >
              {added.id}
            </Link>
          </Text>
          {(added.differ ?? []).includes('system_prompt') && <Text size="sm">{t('results.otherPrompt')}</Text>}
          {(added.warnings ?? []).map((w, i) => (
            <Text key={i} size="sm" className={common.untrusted} style={{ color: 'var(--cv-error)' }}>
              {translate(w.message)}
            </Text>
          ))}
          <Group justify="flex-end">
            <Button onClick={close}>{t('common.close')}</Button>
          </Group>
        </Stack>
      ) : (
        <form
          onSubmit={(e) => {
            e.preventDefault();
            void add();
          }}
        >
          <Stack gap="sm">
            <Select
              label={t('results.intoSuite')}
              data={suites}
              value={suite}
              onChange={setSuite}
              searchable
              searchValue={search}
              onSearchChange={setSearch}
              nothingFoundMessage={t('results.nothing')}
              required
            />
            <Select
              label={t('results.tier')}
              data={[
                { value: 'regression', label: t('results.tierRegression') },
                { value: 'golden', label: t('results.tierGolden') },
                { value: 'labeled', label: t('results.tierLabeled') },
                { value: '', label: t('results.tierNone') },
              ]}
              value={tier}
              onChange={(v) => setTier((v ?? '') as Tier)}
              allowDeselect={false}
            />
            <TextInput
              label={t('results.bug')}
              description={t('results.bugText')}
              value={bug}
              onChange={(e) => setBug(e.currentTarget.value)}
              required={tier === 'regression'}
              maxLength={500}
            />
            {error !== null && <Failure of={error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {t('common.cancel')}
              </Button>
              <Button type="submit" loading={busy} disabled={!suite || (tier === 'regression' && bug.trim() === '')}>
                {t('results.addToSuite')}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
