import { reloadForLostFiles } from './lost-files.ts'
import { loadLanguage } from './texts/load.ts'

/* The skeleton is in the page already; everything else, styles too, comes with this import. */
reloadForLostFiles()
void loadLanguage()
  .then(() => import('./app.tsx'))
  .then(app => app.start())
