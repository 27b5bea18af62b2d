import { MantineProvider, mergeThemeOverrides, Portal } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { createBrowserRouter } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { $api, onStatus, problemOf } from './api/client';
import { live } from './api/live';
import { invalidations } from './api/queries';
import { LoginPage, readLink } from './login';
import { forgetUserData, CurrentUserContext } from './user';
import { nonce } from './nonce';
import { Shell } from './shell';
import { loadTexts, type Language, TextContext, texts } from './text';
import { setTranslationLanguage } from './text/translate';
import { theme, variables } from './theme';
import { Failure, Loading } from './ui/status';
import { setFormatLanguage } from './ui/format';
import { Unsaved } from './ui/unsaved';

const client = new QueryClient({
  queryCache: new QueryCache(),
  mutationCache: new MutationCache(),
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchOnWindowFocus: true,
      retry: (n, e) => n < 2 && [0, 502, 503, 504].includes(problemOf(e).status),
    },
  },
});

// The screens are routes of the shell. This kind of router can ask before the user leaves a form.
const router = createBrowserRouter([{ path: '*', element: <Root /> }]);

function Root() {
  return (
    <ModalsProvider>
      <Notifications position="bottom-right" limit={4} />
      <Unsaved />
      <LoginGate />
    </ModalsProvider>
  );
}

/** initialLanguage returns the language that the user chose, or the language of the browser. */
export function initialLanguage(): Language {
  const kept = localStorage.getItem('callvet.language');
  if (kept === 'en' || kept === 'sv') return kept;
  return navigator.language.startsWith('sv') ? 'sv' : 'en';
}

export function App() {
  const [language, setLanguage] = useState<Language>(initialLanguage);
  setFormatLanguage(language);
  setTranslationLanguage(language);
  const value = useMemo(
    () => ({
      t: texts(language),
      language,
      choose: (l: Language) => {
        localStorage.setItem('callvet.language', l);
        void loadTexts(l).finally(() => setLanguage(l)); // without them the texts are English
      },
    }),
    [language],
  );
  const translated = useMemo(() => {
    const closes = { defaultProps: { closeButtonProps: { 'aria-label': value.t('common.close') } } };
    return mergeThemeOverrides(theme, { components: { Modal: closes, Drawer: closes } });
  }, [value]);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return (
    <TextContext.Provider value={value}>
      <MantineProvider
        theme={translated}
        cssVariablesResolver={variables}
        defaultColorScheme="auto"
        getStyleNonce={nonce}
      >
        <QueryClientProvider client={client}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </TextContext.Provider>
  );
}

const lastUser = 'callvet.user';

/**
 * LoginGate shows the login page to a visitor and the shell to a user. When a session ends, the shell stays behind the
 * login page with its inputs: the same user finds them again, a different user does not.
 */
function LoginGate() {
  const me = $api.useQuery('get', '/api/me', {}, { staleTime: 60_000, retry: false });
  const [out, setOut] = useState<'' | 'ended' | 'left'>('');
  // A one-time link shows the login page until it was used, even to a user who is logged in.
  const [link, setLink] = useState(() => readLink(location.hash));
  const user = useRef('');
  const inside = me.data !== undefined && out === '';
  useEffect(
    () =>
      onStatus((status) => {
        if (status === 401) setOut((was) => was || 'ended');
      }),
    [],
  );
  useEffect(() => {
    if (!inside) return;
    live.start();
    return () => live.stop();
  }, [inside]);
  useEffect(() => {
    if (!me.data) return;
    const guest = me.data.read_only; // callvet view has no users
    // the page may have been reloaded since
    const before = user.current || (guest ? '' : localStorage.getItem(lastUser));
    if (before && before !== me.data.user_id) forgetUserData();
    user.current = me.data.user_id;
    if (!guest) localStorage.setItem(lastUser, me.data.user_id);
  }, [me.data]);

  const enter = async () => {
    const { data } = await me.refetch();
    if (data?.user_id !== user.current) {
      client.clear(); // data of the other user
      await me.refetch();
    } else void invalidations(client).all();
    setLink(null);
    setOut('');
  };
  if (link) return <LoginPage link={link} again={false} entered={enter} />;
  if (me.isPending) return <Loading />;
  if (me.error && !me.data && problemOf(me.error).status !== 401)
    return <Failure of={me.error} retry={() => me.refetch()} />;
  if (!me.data || out === 'left') return <LoginPage link={null} again={false} entered={enter} />;
  return (
    <>
      <div inert={out !== ''} style={out ? { display: 'none' } : undefined}>
        <CurrentUserContext.Provider value={me.data}>
          <Shell
            key={me.data.user_id}
            left={() => {
              forgetUserData();
              client.clear();
              setOut('left');
            }}
          />
        </CurrentUserContext.Provider>
      </div>
      {out && (
        <Portal>
          <div style={{ position: 'fixed', inset: 0, zIndex: 1000, overflow: 'auto', background: 'var(--cv-ground)' }}>
            <LoginPage link={null} again entered={enter} />
          </div>
        </Portal>
      )}
    </>
  );
}
