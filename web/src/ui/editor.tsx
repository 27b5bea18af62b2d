import { autocompletion, type CompletionContext } from '@codemirror/autocomplete';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { basicSetup } from 'codemirror';
import { useEffect, useRef } from 'react';
import { nonce } from '../nonce';

/** A mark in a text: line and column count from 1; both are 0 if the place is not known. */
export type Mark = { line: number; column: number; severity: 'error' | 'warning'; text: string };

export type EditorProps = {
  label: string;
  value: string;
  onChange?: (text: string) => void;
  language?: 'json' | 'yaml' | 'text';
  marks?: Mark[];
  height?: number | string;
  readOnly?: boolean;
  /** Completions with their descriptions. */
  words?: { label: string; detail?: string }[];
  /** The place to move the cursor to; a new object moves it again. */
  at?: { line: number; column: number };
};

const look = EditorView.theme({
  '&': { background: 'var(--cv-card)', color: 'var(--mantine-color-text)', fontSize: '13px' },
  '.cm-content, .cm-gutters': { fontFamily: 'var(--mantine-font-family-monospace)' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-gutters': {
    background: 'var(--cv-ground)',
    color: 'var(--mantine-color-dimmed)',
    borderRight: '1px solid var(--cv-line)',
  },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'color-mix(in srgb, var(--cv-mark) 8%, transparent)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--cv-mark) 25%, transparent) !important',
  },
  '.cm-tooltip': {
    background: 'var(--cv-card)',
    border: '1px solid var(--cv-line)',
    color: 'var(--mantine-color-text)',
  },
  '.cm-panels': { background: 'var(--cv-ground)', color: 'var(--mantine-color-text)' },
});

const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--cv-mark)' },
    { tag: tags.string, color: 'var(--cv-pass)' },
    { tag: [tags.number, tags.bool, tags.null], color: 'var(--cv-error)' },
    { tag: tags.comment, color: 'var(--mantine-color-dimmed)', fontStyle: 'italic' },
  ]),
);

function languageOf(language: EditorProps['language']) {
  return language === 'json' ? json() : language === 'yaml' ? yaml() : [];
}

export default function Editor({
  label,
  value,
  onChange,
  language = 'json',
  marks,
  height = 320,
  readOnly = false,
  words,
  at,
}: EditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  const offered = useRef(words);
  offered.current = words;
  const parts = useRef({ language: new Compartment(), fixed: new Compartment() });

  useEffect(() => {
    if (!place.current) return;
    const complete = (c: CompletionContext) => {
      const word = c.matchBefore(/[\w-]+/);
      if (!offered.current || (!word && !c.explicit)) return null;
      return { from: word?.from ?? c.pos, options: offered.current };
    };
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          basicSetup,
          look,
          colours,
          lintGutter(),
          EditorView.cspNonce.of(nonce()),
          EditorView.lineWrapping,
          autocompletion({ override: [complete] }),
          // Escape closes the list of words, and not the dialog around the editor.
          EditorView.contentAttributes.of({ 'aria-label': label, 'data-mantine-stop-propagation': 'true' }),
          parts.current.language.of(languageOf(language)),
          parts.current.fixed.of([EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)]),
          EditorView.updateListener.of((u) => {
            if (u.docChanged) changed.current?.(u.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- made once: the effects below pass later values
  }, []);

  useEffect(() => {
    const v = view.current;
    if (v && v.state.doc.toString() !== value)
      v.dispatch({ changes: { from: 0, to: v.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    view.current?.dispatch({ effects: parts.current.language.reconfigure(languageOf(language)) });
  }, [language]);
  useEffect(() => {
    view.current?.dispatch({
      effects: parts.current.fixed.reconfigure([EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)]),
    });
  }, [readOnly]);
  useEffect(() => {
    const v = view.current;
    if (!v) return;
    const list: Diagnostic[] = (marks ?? []).map((m) => {
      const line = v.state.doc.line(Math.min(Math.max(m.line, 1), v.state.doc.lines));
      const from = Math.min(line.from + Math.max(m.column - 1, 0), line.to);
      return { from, to: Math.max(from, line.to), severity: m.severity, message: m.text };
    });
    v.dispatch(setDiagnostics(v.state, list));
  }, [marks, value]);
  useEffect(() => {
    const v = view.current;
    if (!v || !at) return;
    const line = v.state.doc.line(Math.min(Math.max(at.line, 1), v.state.doc.lines));
    const to = Math.min(line.from + Math.max(at.column - 1, 0), line.to);
    v.dispatch({ selection: { anchor: to }, effects: EditorView.scrollIntoView(to, { y: 'center' }) });
    v.focus();
  }, [at]);

  return <div ref={place} style={{ height, overflow: 'auto', resize: 'vertical' }} />;
}
