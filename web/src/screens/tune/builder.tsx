// The search space of a form: parameters with their values, for all models or for one, and presets.
import {
  ActionIcon,
  Autocomplete,
  Button,
  Group,
  Menu,
  NumberInput,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { $api, api, unwrap } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { useText, useTranslate } from '../../text';
import { usePermission } from '../../user';
import { askConfirmation } from '../../ui/confirm';
import { notify } from '../../ui/notify';
import { Card } from '../../ui/page';
import { Failure } from '../../ui/status';
import { type Dimension, dimension, fileOf, parameters, renamed, type Spaces, spacesOf } from './space';
import { FormDialog } from '../../ui/dialog';
import common from '../../ui/common.module.css';

const amount = (v: string | number) => (v === '' || Number.isNaN(Number(v)) ? ('' as const) : Number(v));

export function SpaceCard({ of, models, change }: { of: Spaces; models: string[]; change: (spaces: Spaces) => void }) {
  const t = useText();
  const [chosen, choose] = useState('');
  const model = models.includes(chosen) ? chosen : '';
  const list = model ? of.own[model] : of.shared;
  const put = (next: Dimension[]) =>
    change(model ? { ...of, own: { ...of.own, [model]: next } } : { ...of, shared: next });
  const { [model]: _, ...others } = of.own;
  return (
    <Card title={t('tune.space')} actions={<Presets of={of} load={change} />}>
      <Stack gap="sm">
        {(models.length > 1 || Object.keys(of.own).length > 0) && (
          <Select
            label={t('tune.spaceOf')}
            value={model}
            onChange={(v) => choose(v ?? '')}
            allowDeselect={false}
            data={[{ value: '', label: t('tune.allModels') }, ...models.map((m) => ({ value: m, label: m }))]}
          />
        )}
        {list?.map((x, i) => (
          <DimensionRow
            key={i}
            of={x}
            change={(part) => put(list.map((y, k) => (k === i ? { ...y, ...part } : y)))}
            remove={() => put(list.filter((_, k) => k !== i))}
          />
        ))}
        <Group>
          {list ? (
            <Button
              variant="default"
              size="xs"
              leftSection={<IconPlus size={14} aria-hidden />}
              onClick={() => {
                const next = Object.keys(parameters).find((p) => !list.some((x) => x.name === p));
                put([...list, dimension(next)]);
              }}
            >
              {t('tune.addParameter')}
            </Button>
          ) : (
            <Button variant="default" size="xs" onClick={() => put(of.shared)}>
              {t('tune.ownSpace')}
            </Button>
          )}
          {model && list && (
            <Button variant="subtle" size="xs" onClick={() => change({ ...of, own: others })}>
              {t('tune.sharedSpace')}
            </Button>
          )}
        </Group>
      </Stack>
    </Card>
  );
}

/** Presets loads, saves and deletes named search spaces. */
function Presets({ of, load }: { of: Spaces; load: (spaces: Spaces) => void }) {
  const t = useText();
  const translate = useTranslate();
  const invalidate = useInvalidate();
  const mayWrite = usePermission('write');
  const [saving, setSaving] = useState(false);
  const found = $api.useQuery('get', '/api/tool-eval/param-tune/presets');
  const all = found.data?.items ?? [];
  const own = all.filter((p) => p.own);
  const remove = (name: string) =>
    askConfirmation(t, t('tune.deletePreset', { name }), t('tune.deletePresetText'), t('common.delete'), async () => {
      unwrap(await api.DELETE('/api/tool-eval/param-tune/presets/{name}', { params: { path: { name } } }));
      await invalidate.tunes();
    });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" size="xs">
            {t('tune.presets')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={420} style={{ overflowY: 'auto' }}>
          {found.error && <Failure of={found.error} />}
          {[all.filter((p) => !p.own), own].map(
            (list, i) =>
              list.length > 0 && (
                <div key={i}>
                  <Menu.Label>{t(i === 0 ? 'tune.shipped' : 'tune.own')}</Menu.Label>
                  {list.map((p) => (
                    <Menu.Item key={p.name} disabled={!p.space} onClick={() => load(spacesOf(p.space))}>
                      {p.name}
                      {(p.problem ?? p.about) && (
                        <Text size="xs" c="dimmed" className={common.untrusted}>
                          {translate(p.problem ?? p.about!)}
                        </Text>
                      )}
                    </Menu.Item>
                  ))}
                </div>
              ),
          )}
          {mayWrite && (
            <>
              <Menu.Divider />
              <Menu.Item onClick={() => setSaving(true)}>{t('tune.saveSpace')}</Menu.Item>
              {own.map((p) => (
                <Menu.Item key={p.name} color="red" onClick={() => remove(p.name)}>
                  {t('tune.remove', { name: p.name })}
                </Menu.Item>
              ))}
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {saving && <SavePreset of={of} close={() => setSaving(false)} />}
    </>
  );
}

function SavePreset({ of, close }: { of: Spaces; close: () => void }) {
  const t = useText();
  const invalidate = useInvalidate();
  const [name, setName] = useState('');
  const send = async () => {
    unwrap(await api.POST('/api/tool-eval/param-tune/presets', { body: { name, search_space: fileOf(of) } }));
    await invalidate.tunes();
    notify(t('tune.savedSpace', { name }));
    close();
  };
  return (
    <FormDialog title={t('tune.saveSpace')} close={close} send={send} button={t('common.save')}>
      <TextInput
        label={t('tune.presetName')}
        description={t('tune.presetNameHint')}
        required
        data-autofocus
        maxLength={64}
        value={name}
        onChange={(e) => setName(e.currentTarget.value)}
      />
    </FormDialog>
  );
}

function DimensionRow({
  of: d,
  change,
  remove,
}: {
  of: Dimension;
  change: (part: Partial<Dimension>) => void;
  remove: () => void;
}) {
  const t = useText();
  const name = d.name || t('tune.parameter');
  const end = (key: 'min' | 'max' | 'step', label: string) => (
    <NumberInput
      aria-label={`${name}: ${label}`}
      placeholder={label}
      value={d.between[key]}
      onChange={(v) => change({ between: { ...d.between, [key]: amount(v) } })}
      style={{ flex: 1 }}
    />
  );
  return (
    <Group align="flex-start" gap="xs" wrap="nowrap" role="group" aria-label={name}>
      <Autocomplete
        aria-label={t('tune.parameter')}
        data={Object.keys(parameters)}
        value={d.name}
        onChange={(next) => change(renamed(d, next))}
        style={{ width: 160, flex: 'none' }}
      />
      <Stack gap={4} style={{ flex: 1, minWidth: 0 }}>
        {d.range ? (
          <Group gap={4} wrap="nowrap">
            {end('min', t('tune.from'))}
            {end('max', t('tune.to'))}
            {end('step', t('tune.step'))}
          </Group>
        ) : (
          <TagsInput
            aria-label={t('tune.valuesOf', { name })}
            placeholder={t('tune.values')}
            value={d.values}
            onChange={(values) => change({ values })}
            acceptValueOnBlur
          />
        )}
        <Button
          variant="subtle"
          size="compact-xs"
          style={{ alignSelf: 'flex-start' }}
          onClick={() => change({ range: !d.range })}
        >
          {t(d.range ? 'tune.asList' : 'tune.asRange')}
        </Button>
      </Stack>
      <ActionIcon variant="subtle" color="gray" mt={4} onClick={remove} aria-label={t('tune.remove', { name })}>
        <IconTrash size={16} aria-hidden />
      </ActionIcon>
    </Group>
  );
}
