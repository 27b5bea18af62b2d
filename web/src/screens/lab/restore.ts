// The text of a catalogue before edits, to undo them: as a new version with the old text.
import { api, unwrap, type Schemas } from '../../api/client';

export type CatalogueBackup = { id: string; name: string; version: number; hash: string; text: Blob };

/** readBackup reads the present text of a catalogue; it returns null if the version has changed. */
export async function readBackup(c: Schemas['CatalogueEntry']): Promise<CatalogueBackup | null> {
  const { data, error, response } = await api.GET('/api/catalogues/{id}', {
    params: { path: { id: c.id } },
    parseAs: 'blob',
  });
  if (error) throw error;
  if (response.headers.get('ETag') !== `"${c.version}"`) return null;
  return { id: c.id, name: c.name, version: c.version, hash: c.hash, text: data as unknown as Blob };
}

/** restoreBackup writes the old text over the version that replaced it, but never over a later version. */
export async function restoreBackup(b: CatalogueBackup): Promise<Schemas['CatalogueEntry']> {
  const made = b.version + 1;
  const form = new FormData();
  form.append('file', b.text, b.name);
  try {
    return unwrap(
      await api.PUT('/api/catalogues/{id}', {
        params: { path: { id: b.id }, header: { 'If-Match': `"${made}"` } },
        body: form as never,
        bodySerializer: (x: unknown) => x as FormData,
      }),
    );
  } catch (e) {
    // An earlier answer may have been lost: then the text is already restored.
    const now = await api.GET('/api/catalogues', { params: { query: { limit: 100 } } }).catch(() => undefined);
    const there = now?.data?.items.find((c) => c.id === b.id);
    if (there && there.version === made + 1 && there.hash === b.hash) return there;
    throw e;
  }
}
