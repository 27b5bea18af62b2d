// Invisible characters: of no width, or changing the direction of a text. In the text of a model or a tool each is
// shown by its code point.
import { Fragment } from 'react';
import { useText } from '../text';
import classes from './visible.module.css';

// A joiner between emoji makes one of them, and one between letters belongs to some scripts.
const invisible =
  /(?<!\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d|(?<![\p{Script=Arab}\p{Script=Deva}\p{Script=Beng}])\u200c|[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|[\u{e0001}\u{e0020}-\u{e007f}]/gu;

/** VisibleText shows a text, with its invisible characters as code points. */
export function VisibleText({ text }: { text: string }) {
  const t = useText();
  const found = [...text.matchAll(invisible)];
  if (found.length === 0) return text;
  let at = 0;
  return (
    <>
      {found.map((m, i) => {
        const before = text.slice(at, m.index);
        at = m.index + m[0].length;
        const code = `U+${m[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
        return (
          <Fragment key={i}>
            {before}
            <span className={classes.character} data-invisible title={t('common.unseen')}>
              {code}
            </span>
          </Fragment>
        );
      })}
      {text.slice(at)}
    </>
  );
}
