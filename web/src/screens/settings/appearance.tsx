import { Input, SegmentedControl, Stack, Text, useMantineColorScheme } from '@mantine/core';
import { type Language, useLanguage } from '../../text';
import { Card } from '../../ui/page';

export function AppearanceSection() {
  const { t, language, choose } = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Card title={t('settings.appearanceTitle')}>
      <Stack align="flex-start">
        <Text size="sm" c="dimmed">
          {t('settings.appearanceText')}
        </Text>
        <Input.Wrapper label={t('shell.theme')} labelElement="div">
          <div>
            <SegmentedControl
              aria-label={t('shell.theme')}
              value={colorScheme}
              onChange={(v) => setColorScheme(v as typeof colorScheme)}
              data={[
                { value: 'auto', label: t('shell.system') },
                { value: 'light', label: t('shell.light') },
                { value: 'dark', label: t('shell.dark') },
              ]}
            />
          </div>
        </Input.Wrapper>
        <Input.Wrapper label={t('shell.language')} labelElement="div">
          <div>
            <SegmentedControl
              aria-label={t('shell.language')}
              value={language}
              onChange={(v) => choose(v as Language)}
              data={[
                { value: 'en', label: 'English' },
                { value: 'sv', label: 'Svenska' },
              ]}
            />
          </div>
        </Input.Wrapper>
      </Stack>
    </Card>
  );
}
