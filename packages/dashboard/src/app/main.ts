import { loadLanguage } from './texts/load.ts'

/* The skeleton is in the page already; everything else, styles too, comes with this import. */
void loadLanguage()
  .then(() => import('./app.tsx'))
  .then(app => app.start())
