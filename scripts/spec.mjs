import { writeFileSync } from 'node:fs'
import { endpointsPage } from '../tests/house/specification.ts'

/* Writes the page of the specification that is made from the contract. */
writeFileSync(new URL('../docs/spec/endpoints.md', import.meta.url), endpointsPage())
