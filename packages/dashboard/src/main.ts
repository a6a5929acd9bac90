/* The skeleton is in the page already; everything else, styles too, comes with this import. */
void import('./app.tsx').then(app => app.start())
