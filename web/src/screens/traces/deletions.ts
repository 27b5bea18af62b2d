/** Collections with a deletion that can still be undone: lists leave them out. */
export const pendingDeletions = new Set<string>();
