import { ButtonLink } from '../../kit/button-link.tsx'
import { Page } from '../../kit/page.tsx'
import parts from '../../kit/parts.module.css'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { templatesTexts } from './templates.texts.ts'

/** For an address of a template that there is none of. */
export const GoneTemplate = () => {
  const t = textsOf(templatesTexts)
  return (
    <Page title={t.title}>
      <div className={parts.empty}>
        <p>{t.gone}</p>
        <ButtonLink to="/templates" search={{}} variant="default">
          {t.back}
        </ButtonLink>
      </div>
    </Page>
  )
}
