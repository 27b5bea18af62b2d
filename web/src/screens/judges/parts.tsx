// Components that the screens of judges share.
import { Box, Text } from '@mantine/core';
import type { Schemas } from '../../api/client';
import { useText } from '../../text';
import type { Interval } from '../../ui/interval';
import { number } from '../../ui/format';
import common from '../../ui/common.module.css';

/** Coefficient is a number that is not a rate, such as kappa, with its interval and n. */
export function Coefficient({ of: i }: { of: Interval | undefined }) {
  const t = useText();
  if (!i || i.point === null) {
    return (
      <Text span size="sm" c="dimmed">
        {t('common.notScored')}
      </Text>
    );
  }
  return (
    <Box component="span" className={common.num} style={{ display: 'inline-flex', alignItems: 'center', gap: 8 }}>
      <Text span fw={600} fz="sm">
        {number(i.point, 2)}
      </Text>
      <Text span size="xs" c="dimmed">
        {i.lower !== null && i.upper !== null && `${number(i.lower, 2)} to ${number(i.upper, 2)} · `}n = {i.n}
      </Text>
    </Box>
  );
}

/** JudgeName is the name of a judge, with its model and id. */
export function JudgeName({ of: j, id }: { of: Schemas['LabelsJudge']; id: string }) {
  return (
    <Box miw={170}>
      <Text size="sm" fw={600} className={common.untrusted}>
        {j.judge}
      </Text>
      <Text size="xs" c="dimmed" className={common.untrusted}>
        {[j.model, id].filter(Boolean).join(' · ')}
      </Text>
    </Box>
  );
}
