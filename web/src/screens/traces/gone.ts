/** gone are collections whose deletion can still be undone: lists leave them out. */
export const gone = new Set<string>();
