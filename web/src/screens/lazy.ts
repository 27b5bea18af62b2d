// Screens with code that is loaded when they are opened.
import { type ComponentType, createElement, lazy, useState } from 'react';

/**
 * lazyScreen returns a screen with code that is loaded on demand. Loaded code is rendered at once: a lazy component
 * would first show its fallback, which React then keeps for 300 ms.
 */
export function lazyScreen(load: () => Promise<{ default: ComponentType }>) {
  let loaded: ComponentType | undefined;
  const get = () => load().then((m) => ((loaded = m.default), m));
  const Lazy = lazy(get);
  const View = () => createElement(useState(() => loaded ?? Lazy)[0]);
  return { view: View, load: get };
}
