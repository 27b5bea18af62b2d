import { Button, Group, Modal, type ModalProps, Stack } from '@mantine/core';
import { type ReactNode } from 'react';
import { useText } from '../text';
import { useAction } from './action';
import { Failure } from './status';

/** FormDialog is a dialog with a form: its fields, the error of send, and the buttons that leave it and send it. */
export function FormDialog({
  close,
  send,
  button,
  disabled,
  children,
  ...modal
}: Omit<ModalProps, 'opened' | 'onClose'> & {
  close: () => void;
  send: () => Promise<unknown>;
  button: string;
  disabled?: boolean;
  children: ReactNode;
}) {
  const t = useText();
  const { busy, error, act } = useAction();
  return (
    <Modal opened onClose={close} {...modal}>
      <form
        autoComplete="off"
        onSubmit={(e) => {
          e.preventDefault();
          e.stopPropagation(); // React passes it on to a form that the dialog belongs to
          if (!busy) void act(send);
        }}
      >
        <Stack>
          <Failure of={error} />
          {children}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t('common.cancel')}
            </Button>
            <Button type="submit" loading={busy} disabled={disabled}>
              {button}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
