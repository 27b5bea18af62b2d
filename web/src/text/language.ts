/** The languages of the page. */
export type Language = 'en' | 'sv';
