// One collection of traces: its attempts, scores, comparison and gates, each a tab with its own address.
import { Badge, Button, Group, Menu, Tabs } from '@mantine/core';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { $api, api, unwrap } from '../../api/client';
import { useInvalidate } from '../../api/queries';
import { usePermission, useCurrentUser } from '../../user';
import { useText } from '../../text';
import { Page } from '../../ui/page';
import { Failure, Loading } from '../../ui/status';
import { bytes, moment, number } from '../../ui/format';
import { useParam } from '../../ui/params';
import { notify, notifyFailure, undoable } from '../../ui/notify';
import { AttemptsTab } from './attempts';
import { CompareTab } from './compare';
import { GatesTab } from './gates';
import { pendingDeletions } from './deletions';
import { ScoresTab } from './scores';
import { UploadDialog } from './upload';

const forms = ['otlp', 'messages', 'adk-evalset'];
const parts = { attempts: AttemptsTab, scores: ScoresTab, compare: CompareTab, gates: GatesTab } as const;

export function CollectionPage({ id }: { id: string }) {
  const t = useText();
  const me = useCurrentUser();
  const mayWrite = usePermission('write');
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const [part, setPart] = useParam('part', 'attempts');
  const [adding, setAdding] = useState(false);
  const collection = $api.useQuery('get', '/api/traces/{id}', { params: { path: { id } } });
  const again = () => invalidate.tracesAndScores();
  if (collection.isPending) return <Loading />;
  if (collection.error) {
    return (
      <Page title={t('shell.traces')}>
        <Failure of={collection.error} retry={() => collection.refetch()} />
        <Link to="/traces">{t('traces.back')}</Link>
      </Page>
    );
  }
  const c = collection.data;
  const mine = mayWrite && (c.owner === me.user_id || me.role === 'admin');
  const share = async () => {
    try {
      unwrap(await api.PATCH('/api/traces/{id}', { params: { path: { id } }, body: { shared: !c.shared } }));
      notify(t(c.shared ? 'traces.unsharedNow' : 'traces.sharedNow'));
      await again();
    } catch (e) {
      notifyFailure(t, e);
    }
  };
  const remove = () => {
    undoable(
      t,
      t('traces.deletedName', { name: c.name }),
      async () => {
        unwrap(await api.DELETE('/api/traces/{id}', { params: { path: { id } } }));
        await again();
      },
      {
        hide: () => pendingDeletions.add(id),
        show: () => {
          pendingDeletions.delete(id);
          navigate(`/traces/${id}`);
        },
      },
    );
    navigate('/traces');
  };
  const at = part in parts ? (part as keyof typeof parts) : 'attempts';
  return (
    <Page
      title={c.name}
      lead={
        <Group gap={8}>
          <span>
            {c.form} · {number(c.items)} {t('traces.items').toLowerCase()} ·{' '}
            {t('traces.full', { size: bytes(c.bytes), max: bytes(c.max_bytes) })} · {moment(c.updated_at)}
          </span>
          {(c.lost_count ?? 0) > 0 && (
            <Badge style={{ color: 'var(--cv-error)', background: 'var(--cv-error-ground)' }}>
              {t('traces.lostN', { n: number(c.lost_count!) })}
            </Badge>
          )}
          {c.shared && <Badge color="gray">{t('common.shared')}</Badge>}
        </Group>
      }
      actions={
        <>
          {mine && c.lines && (
            <Button variant="default" onClick={() => setAdding(true)}>
              {t('traces.upload')}
            </Button>
          )}
          <Menu position="bottom-end">
            <Menu.Target>
              <Button variant="default">{t('traces.export')}</Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item component="a" href={`/api/traces/${id}/export`} download>
                {t('traces.exportAs', { form: t('traces.form_jsonl') })}
              </Menu.Item>
              {forms.map((f) => (
                <Menu.Item key={f} component="a" href={`/api/traces/${id}/export?format=${f}`} download>
                  {t('traces.exportAs', { form: f })}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
          {mine && (
            <>
              <Button variant="default" onClick={share}>
                {t(c.shared ? 'traces.unshare' : 'traces.share')}
              </Button>
              <Button variant="default" color="red" onClick={remove}>
                {t('common.delete')}
              </Button>
            </>
          )}
        </>
      }
    >
      <Tabs value={at} onChange={setPart} keepMounted={false}>
        <Tabs.List aria-label={t('traces.parts')}>
          {(Object.keys(parts) as (keyof typeof parts)[]).map((p) => (
            <Tabs.Tab key={p} value={p}>
              {t(`traces.${p}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {Object.entries(parts).map(([p, View]) => (
          <Tabs.Panel key={p} value={p} pt="lg">
            <View id={id} />
          </Tabs.Panel>
        ))}
      </Tabs>
      {adding && <UploadDialog close={() => setAdding(false)} added={again} collection={c.name} />}
    </Page>
  );
}
