import { Button } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { $api, api, ok } from '../../api/client';
import { isOver, type Job } from '../../api/jobs';
import { useMay, useMe } from '../../me';
import { useText } from '../../text';
import { tellFailure } from '../../ui/undo';

/** Cancel ends a job, where the user may. What runs is asked about first: a run cannot be taken up again. */
export function Cancel({ job, small }: { job: Job; small?: boolean }) {
  const t = useText();
  const me = useMe();
  const may = useMay('run') && !me.read_only;
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: async () => ok(await api.POST('/api/jobs/{id}/cancel', { params: { path: { id: job.job_id } } })),
    onSuccess: (j) => {
      client.setQueryData(
        $api.queryOptions('get', '/api/jobs/{id}', { params: { path: { id: j.job_id } } }).queryKey,
        j,
      );
      void client.invalidateQueries({ predicate: (q) => q.queryKey[1] === '/api/jobs' });
    },
    onError: (e) => tellFailure(t, e),
  });
  if (!may || isOver(job)) return null;
  const ask = () =>
    modals.openConfirmModal({
      title: t('jobs.confirmCancel'),
      children: t('jobs.confirmText'),
      labels: { confirm: t('jobs.cancelJob'), cancel: t('jobs.keep') },
      confirmProps: { color: 'red' },
      closeButtonProps: { 'aria-label': t('common.close') },
      onConfirm: () => end.mutate(),
    });
  const ending = job.cancel_requested || end.isPending;
  return (
    <Button
      variant="default"
      size={small ? 'compact-xs' : 'sm'}
      disabled={ending}
      onClick={ask}
      aria-label={small ? `${t('jobs.cancel')}: ${job.about ?? job.job_id}` : undefined}
    >
      {ending ? t('jobs.cancelling') : t('jobs.cancel')}
    </Button>
  );
}
