import { textsOf } from '../../lib/texts/catalogue.ts'
import { commonTexts } from '../../lib/texts/common.texts.ts'
import { Choices } from './choices.tsx'
import { identityTexts } from './identity.texts.ts'
import type { Role } from './queries.ts'

const roles = ['Viewer', 'Operator', 'Admin'] as const satisfies readonly Role[]

export const RoleChoice = (props: {
  legend: string
  value: Role
  onValue: (role: Role) => void
  disabled?: boolean
  isChanged?: boolean
}) => {
  const t = textsOf(identityTexts)
  return (
    <Choices
      {...props}
      options={roles.map(value => ({ value, label: textsOf(commonTexts).roles[value], meaning: t.roleMeans[value] }))}
    />
  )
}
