import { Button } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client';
import { queryKeys, useInvalidate } from '../../api/queries';
import { hasEnded, type Job } from '../../api/jobs';
import { usePermission } from '../../user';
import { useText } from '../../text';
import { notifyFailure } from '../../ui/notify';

/** CancelButton cancels a job, if the user may. It asks first for a running job, because a run cannot be resumed. */
export function CancelButton({ job, small }: { job: Job; small?: boolean }) {
  const t = useText();
  const may = usePermission('run');
  const client = useQueryClient();
  const invalidate = useInvalidate();
  const end = useMutation({
    mutationFn: async () => unwrap(await api.POST('/api/jobs/{id}/cancel', { params: { path: { id: job.job_id } } })),
    onSuccess: (j) => {
      client.setQueryData(queryKeys.job(j.job_id), j);
      void invalidate.jobs();
    },
    onError: (e) => notifyFailure(t, e),
  });
  if (!may || hasEnded(job)) return null;
  const ask = () =>
    modals.openConfirmModal({
      title: t('jobs.confirmCancel'),
      children: t('jobs.confirmText'),
      labels: { confirm: t('jobs.cancelJob'), cancel: t('jobs.keep') },
      confirmProps: { color: 'red' },
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
