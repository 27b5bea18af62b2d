// The selection lab: one question, a suite of them, edits of the catalogue, and a comparison with production.
import { Box, Button, FileButton, Group, Select, Stack, Tabs, Text, TextInput } from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { $api, api, unwrap, type Schemas } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { usePermission } from '../../user';
import { useText } from '../../text';
import { Page } from '../../ui/page';
import { Empty, Failure, Loading } from '../../ui/status';
import { notify, notifyFailure } from '../../ui/notify';
import { ChangesTab } from './changes';
import classes from './lab.module.css';
import { type Bench, ServerTexts, type TextFile, useAddress } from './parts';
import { ProductionTab } from './production';
import { QuestionTab } from './single';
import { SuiteTab } from './suite';
import common from '../../ui/common.module.css';

const tabs = ['single', 'suite', 'changes', 'production'] as const;
type Tab = (typeof tabs)[number];

export default function LabPage() {
  const t = useText();
  const [at, go] = useAddress();
  const list = $api.useQuery('get', '/api/catalogues', { params: { query: { limit: 100 } } });
  const [questions, setQuestions] = useState<TextFile | null>(null);
  const [weights, setWeights] = useState('');
  const items = list.data?.items ?? [];
  const catalogue = items.find((c) => c.id === at.get('catalogue')) ?? items[0];
  const preset = at.get('preset') === 'bigtool' ? 'bigtool' : undefined;
  const tools = $api.useQuery(
    'get',
    '/api/catalogues/{id}/tools',
    { params: { path: { id: catalogue?.id ?? '' } } },
    { enabled: catalogue !== undefined },
  );
  const tab = tabs.find((n) => n === at.get('tab')) ?? 'single';

  if (list.error) return <Failure of={list.error} retry={list.refetch} />;
  if (!list.data) return <Loading />;
  if (!catalogue) {
    return (
      <Page title={t('lab.title')} lead={t('lab.lead')}>
        <Empty title={t('lab.catalogueEmpty')} text={t('lab.catalogueEmptyText')}>
          <Upload />
        </Empty>
      </Page>
    );
  }
  const how = {
    embed: at.get('embed') || undefined,
    rerank: at.get('rerank') || undefined,
    weights: weights || undefined,
  };
  const bench: Bench = { catalogue, preset, how, setWeights, tools: tools.data?.items ?? [], questions, setQuestions };
  return (
    <Page title={t('lab.title')} lead={t('lab.lead')}>
      <Box className={classes.lab}>
        <Choice bench={bench} items={items} />
        <Tabs mt="lg" value={tab} onChange={(v) => go({ tab: v === 'single' ? null : v })} keepMounted>
          <Tabs.List aria-label={t('lab.tabs')} className={common.noPrint} mb="lg">
            {tabs.map((n) => (
              <Tabs.Tab key={n} value={n}>
                {t(`lab.${n}`)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Panel of="single" children={<QuestionTab bench={bench} />} />
          <Panel of="suite" children={<SuiteTab bench={bench} />} />
          <Panel of="changes" children={<ChangesTab bench={bench} />} />
          <Panel of="production" children={<ProductionTab bench={bench} />} />
        </Tabs>
      </Box>
    </Page>
  );
}

function Panel({ of, children }: { of: Tab; children: React.ReactNode }) {
  return <Tabs.Panel value={of}>{children}</Tabs.Panel>;
}

/** Choice chooses the catalogue and the scoring. */
function Choice({ bench, items }: { bench: Bench; items: Schemas['CatalogueEntry'][] }) {
  const t = useText();
  const [, go] = useAddress();
  return (
    <Group align="flex-end" gap="sm" className={common.noPrint}>
      <Select
        label={t('lab.catalogue')}
        data={items.map((c) => ({ value: c.id, label: c.name }))}
        value={bench.catalogue.id}
        allowDeselect={false}
        searchable={items.length > 8}
        w={{ base: '100%', xs: 240 }}
        onChange={(v) =>
          go({ catalogue: v, run: null, route: null, tag: null, case: null, compared: null, likeness: null })
        }
      />
      <Select
        label={t('lab.preset')}
        data={[
          { value: 'default', label: t('lab.presetDefault') },
          { value: 'bigtool', label: t('lab.presetBigtool') },
        ]}
        value={bench.preset ?? 'default'}
        allowDeselect={false}
        w={{ base: '100%', xs: 190 }}
        onChange={(v) => go({ preset: v === 'default' ? null : v })}
      />
      <Model of="embed" label={t('lab.embedOne')} />
      <Model of="rerank" label={t('lab.rerankOne')} />
      <Text size="sm" c="dimmed" pb={8} className={common.num} data-version={bench.catalogue.version}>
        {t('lab.catalogueHint', { n: bench.catalogue.tool_count, version: bench.catalogue.version })}
      </Text>
      {bench.how.weights && (
        <Button variant="default" size="xs" mb={4} onClick={() => bench.setWeights('')}>
          {t('lab.dropWeights')}
        </Button>
      )}
      <Group gap="xs" ml="auto" align="flex-start">
        <Upload over={bench.catalogue} />
        <Upload />
      </Group>
    </Group>
  );
}

/** Model names the model of all searches of the lab; it is in the address. */
function Model({ of, label }: { of: 'embed' | 'rerank'; label: string }) {
  const t = useText();
  const [at, go] = useAddress();
  const named = at.get(of) ?? '';
  const [text, setText] = useState(named);
  useEffect(() => setText(named), [named]);
  const keep = () => text.trim() !== named && go({ [of]: text.trim() });
  return (
    <TextInput
      label={label}
      placeholder={t('lab.modelUsual')}
      value={text}
      onChange={(e) => setText(e.currentTarget.value)}
      onBlur={keep}
      onKeyDown={(e) => e.key === 'Enter' && keep()}
      w={{ base: '100%', xs: 200 }}
      maxLength={500}
    />
  );
}

/** Upload stores a new catalogue, or replaces one by a file. */
function Upload({ over }: { over?: Schemas['CatalogueEntry'] }) {
  const t = useText();
  const invalidate = useInvalidate();
  const [, go] = useAddress();
  const [busy, setBusy] = useState(false);
  const [warnings, setWarnings] = useState<Schemas['Remark'][]>([]);
  if (!usePermission('write')) return null;
  const send = async (f: File | null) => {
    if (!f) return;
    setBusy(true);
    try {
      const form = new FormData();
      form.append('file', f);
      const body = { body: form as never, bodySerializer: (b: unknown) => b as FormData };
      const made = over
        ? unwrap(
            await api.PUT('/api/catalogues/{id}', {
              params: { path: { id: over.id }, header: { 'If-Match': `"${over.version}"` } },
              ...body,
            }),
          )
        : unwrap(await api.POST('/api/catalogues', { ...body }));
      setWarnings(made.warnings);
      await invalidate.catalogues();
      go({ catalogue: made.id });
      notify(
        over
          ? t('lab.catalogueChanged', { name: made.name, version: made.version })
          : t('lab.catalogueMade', { name: made.name, n: made.tool_count }),
      );
    } catch (e) {
      notifyFailure(t, e);
    } finally {
      setBusy(false);
    }
  };
  const label = t(over ? 'lab.catalogueReplace' : 'lab.catalogueUpload');
  return (
    <Stack gap={4}>
      <FileButton
        onChange={send}
        accept=".json,.jsonl,.yaml,.yml,.gz,application/json"
        inputProps={{ 'aria-label': label }}
      >
        {(props) => (
          <Button {...props} variant="default" loading={busy} leftSection={<IconUpload size={16} aria-hidden />}>
            {label}
          </Button>
        )}
      </FileButton>
      {warnings.length > 0 && (
        <details>
          <summary>
            <Text span size="xs">
              {t('lab.findings', { n: warnings.length })}
            </Text>
          </summary>
          <ServerTexts of={warnings.slice(0, 20).map((w) => ({ about: w.location ?? '', text: w.message }))} />
        </details>
      )}
    </Stack>
  );
}
