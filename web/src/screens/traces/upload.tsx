// Upload of trace files, one after another; for each, the numbers of understood and refused lines.
import { Alert, Box, Button, FileButton, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { api, unwrap, type Schemas } from '../../api/client';
import { useText } from '../../text';
import { Failure } from '../../ui/status';
import { number } from '../../ui/format';
import classes from './traces.module.css';
import common from '../../ui/common.module.css';

type Sent = { file: string; answer?: Schemas['UploadedTraces']; error?: unknown };

export function UploadDialog({
  close,
  added,
  collection = '',
}: {
  close: () => void;
  added: () => Promise<void>;
  collection?: string;
}) {
  const t = useText();
  const [into, setInto] = useState(collection);
  const [sending, setSending] = useState('');
  const [over, setOver] = useState(false);
  const [sent, setSent] = useState<Sent[]>([]);
  const send = async (files: File[]) => {
    setSent([]);
    for (const f of files) {
      setSending(f.name);
      const body = new FormData();
      body.append('file', f);
      try {
        // The API's description types the body as JSON, and a form as an object.
        const answer = unwrap(
          await api.POST('/api/traces', {
            params: { query: into ? { collection: into } : {} },
            body: body as never,
            bodySerializer: (b: unknown) => b as FormData,
          }),
        );
        setSent((s) => [...s, { file: f.name, answer }]);
      } catch (error) {
        setSent((s) => [...s, { file: f.name, error }]);
      }
    }
    setSending('');
    await added();
  };
  return (
    <Modal opened onClose={close} size="lg" title={t('traces.uploadTitle')}>
      <Stack>
        <Text size="sm" c="dimmed">
          {t('traces.uploadText')}
        </Text>
        <TextInput
          label={t('traces.into')}
          description={t('traces.intoHint')}
          value={into}
          onChange={(e) => setInto(e.currentTarget.value)}
          maxLength={200}
        />
        <Box
          className={classes.drop}
          data-over={over || undefined}
          p="lg"
          ta="center"
          onDragOver={(e) => {
            e.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(e) => {
            e.preventDefault();
            setOver(false);
            void send([...e.dataTransfer.files]);
          }}
        >
          <FileButton onChange={(files) => void send(files)} multiple inputProps={{ 'aria-label': t('traces.file') }}>
            {(p) => (
              <Button {...p} loading={sending !== ''}>
                {t('traces.choose')}
              </Button>
            )}
          </FileButton>
          <Text size="sm" c="dimmed" mt={6} aria-live="polite">
            {sending ? t('traces.sending', { file: sending }) : t('traces.drop')}
          </Text>
        </Box>
        <Stack gap="sm" aria-live="polite">
          {sent.map((s, i) => (
            <One key={i} of={s} />
          ))}
        </Stack>
        {sent.length > 0 && (
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t('common.close')}
            </Button>
          </Group>
        )}
      </Stack>
    </Modal>
  );
}

function One({ of }: { of: Sent }) {
  const t = useText();
  if (!of.answer) {
    return (
      <div>
        <Text size="sm" fw={600} mb={4} className={common.untrusted}>
          {t('traces.refused', { file: of.file })}
        </Text>
        <Failure of={of.error} />
      </div>
    );
  }
  const u = of.answer;
  const whole = u.malformed_lines === 0 && u.problems.length === 0;
  return (
    <Alert
      color={whole ? 'green' : 'yellow'}
      icon={whole ? <IconCircleCheck /> : <IconAlertTriangle />}
      title={<span className={common.untrusted}>{of.file}</span>}
    >
      <Text size="sm" className={common.untrusted}>
        {u.added
          ? t('traces.added', { attempts: number(u.attempts), calls: number(u.calls), name: u.name })
          : t('traces.same', { name: u.name })}{' '}
        <Link to={`/traces/${u.id}`}>{t('traces.open')}</Link>
      </Text>
      {whole ? (
        <Text size="sm">{t('traces.understood')}</Text>
      ) : (
        <>
          {u.malformed_lines > 0 && (
            <Text size="sm">{t('traces.notUnderstood', { n: number(u.malformed_lines) })}</Text>
          )}
          <Text size="sm" fw={600} mt={6}>
            {t('traces.problems')}
          </Text>
          <List size="sm">
            {u.problems.map((p, i) => (
              <List.Item key={i} className={common.untrusted}>
                {p}
              </List.Item>
            ))}
          </List>
        </>
      )}
    </Alert>
  );
}
