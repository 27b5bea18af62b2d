import { Text } from '@mantine/core';
import { useText } from '../../text';

/** Before is what the run will come to, as far as the server can tell. */
export function Before() {
  const t = useText();
  return (
    <Text size="sm" c="dimmed">
      {t('newrun.chooseFirst')}
    </Text>
  );
}
