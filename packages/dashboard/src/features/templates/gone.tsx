import { ButtonLink } from '../../kit/button-link.tsx'
import { GonePage } from '../../kit/gone-page.tsx'
import { textsOf } from '../../lib/texts/catalogue.ts'
import { templatesTexts } from './templates.texts.ts'

/** For an address of a template that there is none of. */
export const GoneTemplate = () => {
  const t = textsOf(templatesTexts)
  return (
    <GonePage title={t.title} text={t.gone}>
      <ButtonLink to="/templates" search={{}} variant="default">
        {t.back}
      </ButtonLink>
    </GonePage>
  )
}
