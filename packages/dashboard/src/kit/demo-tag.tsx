import { useQuery } from '@tanstack/react-query'
import { optionsQuery } from '../api/queries.ts'
import { textsOf } from '../lib/texts/catalogue.ts'
import { commonTexts } from '../lib/texts/common.texts.ts'
import parts from './parts.module.css'

/** Beside the name of the site, where everything in it is made up. */
export const DemoTag = ({ className = '' }: { className?: string | undefined }) =>
  useQuery(optionsQuery).data?.demo ? (
    <b className={`${parts.demo ?? ''} ${className}`}>{textsOf(commonTexts).demo}</b>
  ) : null
