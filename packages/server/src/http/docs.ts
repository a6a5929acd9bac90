import { readFileSync } from 'node:fs'
import { rates } from '@stockade/contract/limits.ts'
import { exampleOf, insideOf, listOf, objectOf, resolve, textOf, typeOf, variantsOf } from './docs-schema.ts'
import type { Field, Json } from './docs-schema.ts'

const fileOf = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')
const files = { css: fileOf('./docs.css'), js: fileOf('./docs.js') }

/**
 * Makes a page from an OpenAPI 3.1 document. It has no inline script or style, so that it works under a strict content
 * security policy. Everything in the document is treated as text.
 */
export const renderDocs = (openapi: object): { html: string; css: string; js: string } => {
  const document = objectOf(openapi)
  const info = objectOf(document.info)
  const title = textOf(info.title) || 'API'
  const groups = groupsOf(document)
  const common = commonRefusals(groups, document)
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)}</title>
<link rel="stylesheet" href="docs.css">
<script src="docs.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<nav aria-label="Operations">
<p><a href="../">Back to the dashboard</a></p>
<form role="search" hidden>
<label for="search">Search</label>
<input id="search" type="search" autocomplete="off" placeholder="path, field or word">
<span role="status"></span>
</form>
${groups.map(indexOf).join('\n')}
</nav>
<main id="content">
<h1>${escape(title)} <small>${escape(textOf(info.version))}</small></h1>
${prose(textOf(info.description))}
<p>Every refusal has the body <code>{ error, message }</code>; <code>message</code> says what was wrong and what to do. The same document for programs: <a href="openapi.json">openapi.json</a>.</p>
${common.size === 0 ? '' : `<h2 id="refusals">Refusals</h2>\n${listOfRefusals(common)}`}
${groups.map(group => sectionOf(group, document, common)).join('\n')}
</main>
</body>
</html>
`
  return { html, ...files }
}

interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly value: Json
}
interface Group {
  readonly id: string
  readonly tag: string
  readonly description: string
  readonly operations: readonly Operation[]
}

const methods = ['get', 'post', 'put', 'patch', 'delete']
/** Operations by their first tag, in the order in which the document names tags. */
const groupsOf = (document: Json): Group[] => {
  const tags = new Map(
    listOf(document.tags).map(tag => [textOf(objectOf(tag).name), textOf(objectOf(tag).description)] as const),
  )
  const ids = new Set<string>()
  const operations = Object.entries(objectOf(document.paths)).flatMap(([path, item]) =>
    methods.flatMap(method => {
      const value = objectOf(item)[method]
      return value === undefined
        ? []
        : [{ id: unique(`${method} ${path}`, ids), method: method.toUpperCase(), path, value: objectOf(value) }]
    }),
  )
  const tagOf = ({ value }: Operation) => textOf(listOf(value.tags)[0]) || 'Other'
  const names = new Set([...tags.keys(), ...operations.map(tagOf)])
  return [...names].flatMap(tag => {
    const own = operations.filter(operation => tagOf(operation) === tag)
    return own.length === 0 ? [] : [{ id: unique(tag, ids), tag, description: tags.get(tag) ?? '', operations: own }]
  })
}

/** An anchor that is safe in an attribute and a URL, and there once. */
const unique = (name: string, taken: Set<string>): string => {
  const slug =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'section'
  let id = slug
  for (let next = 2; taken.has(id); next++) id = `${slug}-${next}`
  taken.add(id)
  return id
}

const indexOf = ({ tag, operations }: Group) => `<details>
<summary>${escape(tag)}</summary>
<ul>
${operations
  .map(({ id, method, path }) => `<li><a href="#${id}">${badge(method)} <span>${breakable(path)}</span></a></li>`)
  .join('\n')}
</ul>
</details>`

const sectionOf = (
  group: Group,
  document: Json,
  common: ReadonlyMap<string, string>,
) => `<section aria-labelledby="${group.id}">
<h2 id="${group.id}">${escape(group.tag)}</h2>
${prose(group.description)}
${group.operations.map(operation => articleOf(operation, document, common)).join('\n')}
</section>`

const articleOf = (operation: Operation, document: Json, common: ReadonlyMap<string, string>) => {
  const { id, method, path, value } = operation
  const parameters = listOf(value.parameters).map(parameter => resolve(parameter, document))
  const body = contentOf(resolve(value.requestBody, document))
  const successes = Object.entries(objectOf(value.responses))
    .filter(([status]) => /^[123]/.test(status))
    .map(([status, reply]) => [status, resolve(reply, document)] as const)
  const refusals = refusalsIn(value, document)
  return `<article aria-labelledby="${id}">
<h3 id="${id}"><a href="#${id}">${badge(method)} <code>${breakable(path)}</code></a></h3>
<p class="summary">${escape(textOf(value.summary))}</p>
${prose(textOf(value.description))}
${factsOf(value)}
${
  parameters.length === 0
    ? ''
    : table(
        'Parameters',
        parameters.map(parameter => parameterOf(parameter, document)),
      )
}
${
  body.schema === undefined
    ? ''
    : variantsOf(body.schema, document)
        .map(variant => table('Body', fieldsIn(variant, document)))
        .join('\n')
}
${successes.map(([status, reply]) => replyOf(status, reply, document)).join('\n')}
${refusals.length === 0 ? '' : refusalsOf(refusals, common)}
<h4>Example</h4>
<pre tabindex="0"><code>${escape(curlOf(operation, parameters, body.schema, document))}</code></pre>
</article>`
}

const accessWords: Readonly<Record<string, string>> = {
  public: 'Anyone; no sign-in needed.',
  session: 'A signed-in user; not an API key.',
  'session-before-mfa': 'A signed-in user, also before setting up required 2FA; not an API key.',
  self: 'The user concerned, or an administrator.',
  read: 'Viewers and above, or an API key with read permission.',
  write: 'Operators and above, or an API key with write permission.',
  admin: 'Administrators, or an API key with admin permission.',
  agent: 'Agents: an API key that is bound to a server and has write permission.',
}
const licenceWords: Readonly<Record<string, string>> = {
  port_knocking: 'port knocking',
  siem: 'SIEM forwarding',
  custom_templates: 'custom templates',
}
const rateWords: Readonly<Record<string, string>> = {
  standard: `${rates.standard} requests a minute.`,
  sensitive: `${rates.sensitive} requests a minute, counted apart.`,
  none: 'No limit.',
}
const factsOf = (value: Json) => {
  const access = textOf(value['x-access'])
  const licence = textOf(value['x-licence'])
  const rate = textOf(value['x-rate'])
  const name = textOf(value.operationId)
  const facts: [string, string][] = [
    ...(name ? [['Name', name] satisfies [string, string]] : []),
    ...(access
      ? [
          [
            'Who',
            `${accessWords[access] ?? access}${value['x-fleet'] === true ? ' Not with a key that is bound to one server.' : ''}`,
          ] satisfies [string, string],
        ]
      : []),
    ...(licence ? [['Licence', `Needs one with ${licenceWords[licence] ?? licence}.`] satisfies [string, string]] : []),
    ...(rate ? [['Limit', rateWords[rate] ?? rate] satisfies [string, string]] : []),
  ]
  if (facts.length === 0) return ''
  return `<dl>${facts.map(([name, text]) => `<div><dt>${name}</dt><dd>${escape(text)}</dd></div>`).join('')}</dl>`
}

const parameterOf = (parameter: Json, document: Json): Field => {
  const [field] = insideOf(
    { properties: { it: parameter.schema ?? {} }, required: parameter.required === true ? ['it'] : [] },
    document,
    '',
  )
  return {
    name: `${textOf(parameter.name)} (${textOf(parameter.in)})`,
    type: field?.type ?? 'any',
    required: field?.required ?? false,
    notes: field?.notes ?? [],
    description: textOf(parameter.description) || (field?.description ?? ''),
  }
}

/** What a body or a reply holds: its JSON, or else its first kind of content. */
const contentOf = (holder: Json): { type: string; schema: unknown } => {
  const content = objectOf(holder.content)
  const type = 'application/json' in content ? 'application/json' : (Object.keys(content)[0] ?? '')
  return { type, schema: objectOf(content[type]).schema }
}
/** Its fields, or one line without a name where it is not an object. */
const fieldsIn = (schema: Json, document: Json): readonly Field[] => {
  const fields = insideOf(schema, document, '')
  if (fields.length > 0) return fields
  if (schema.type === 'object') return []
  return [
    { name: '', type: typeOf(schema, document), required: true, notes: [], description: textOf(schema.description) },
  ]
}

const replyOf = (status: string, reply: Json, document: Json) => {
  const { type, schema } = contentOf(reply)
  const heading = `Reply ${status}${type && type !== 'application/json' ? ` as ${type}` : ''}`
  if (Object.keys(objectOf(schema)).length === 0)
    return `<h4>${escape(heading)}</h4>\n${prose(textOf(reply.description))}`
  const variants = variantsOf(schema, document)
  return variants
    .map((variant, index) =>
      table(
        variants.length > 1 ? `${heading}, ${index === 0 ? 'either' : 'or'}` : heading,
        fieldsIn(variant, document),
      ),
    )
    .join('\n')
}

type Refusals = readonly (readonly [status: string, reply: Json])[]

/** Of each status the text that most operations have: it stands once, at the top of the page. */
const commonRefusals = (groups: readonly Group[], document: Json): ReadonlyMap<string, string> => {
  const counts = new Map<string, Map<string, number>>()
  for (const { value } of groups.flatMap(({ operations }) => operations))
    for (const [status, reply] of refusalsIn(value, document)) {
      const texts = counts.get(status) ?? new Map<string, number>()
      const text = textOf(reply.description)
      counts.set(status, texts.set(text, (texts.get(text) ?? 0) + 1))
    }
  const usual = [...counts].map(
    ([status, texts]) => [status, [...texts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? ''] as const,
  )
  return new Map([...usual].sort(([a], [b]) => (a < b ? -1 : 1)))
}
const refusalsIn = (value: Json, document: Json): Refusals =>
  Object.entries(objectOf(value.responses))
    .filter(([status]) => !/^[123]/.test(status))
    .map(([status, reply]) => [status, resolve(reply, document)] as const)

const listOfRefusals = (texts: Iterable<readonly [string, string]>) => `<ul class="refusals">
${[...texts].map(([status, text]) => `<li><b>${escape(status)}</b> ${inline(text)}</li>`).join('\n')}
</ul>`

/** The statuses, and in words what differs from other operations. */
const refusalsOf = (refusals: Refusals, common: ReadonlyMap<string, string>) => {
  const own = refusals
    .map(([status, reply]) => [status, textOf(reply.description)] as const)
    .filter(([status, text]) => text !== common.get(status))
  return `<h4>Refusals</h4>
<p>${refusals.map(([status]) => `<b>${escape(status)}</b>`).join(', ')}</p>${own.length === 0 ? '' : `\n${listOfRefusals(own)}`}`
}

const table = (heading: string, fields: readonly Field[]) => {
  if (fields.length === 0) return `<h4>${escape(heading)}</h4>\n<p>An empty object.</p>`
  const input = heading === 'Parameters' || heading === 'Body'
  return `<h4>${escape(heading)}</h4>
<table>
<thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Notes</th></tr></thead>
<tbody>
${fields
  .map(
    field =>
      `<tr><td><code>${breakable(field.name || 'the whole')}</code>${input && field.required ? ' <em>required</em>' : ''}</td><td>${escape(field.type)}</td><td>${[...field.notes.map(escape), ...(field.description ? [inline(field.description)] : [])].join('<br>')}</td></tr>`,
  )
  .join('\n')}
</tbody>
</table>`
}

/** A line for a shell, with what the operation needs and nothing else. */
const curlOf = (
  { method, path, value }: Operation,
  parameters: readonly Json[],
  body: unknown,
  document: Json,
): string => {
  const sample = (parameter: Json) => {
    const schema = resolve(parameter.schema, document)
    return encodeURIComponent(String(exampleOf(schema, document, textOf(parameter.name))))
  }
  const filled = path.replace(/\{([^}]*)\}/g, (whole, name: string) => {
    const parameter = parameters.find(({ in: place, name: own }) => place === 'path' && own === name)
    return parameter ? sample(parameter) : whole
  })
  const query = parameters
    .filter(({ in: place, required }) => place === 'query' && required === true)
    .map(parameter => `${encodeURIComponent(textOf(parameter.name))}=${sample(parameter)}`)
    .join('&')
  const server = textOf(objectOf(listOf(document.servers)[0]).url).replace(/\/+$/, '')
  const base = /^https?:\/\//.test(server) ? server : `https://stockade.example${server}`
  return [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quote(`${base}${filled}${query ? `?${query}` : ''}`)}`,
    ...(value['x-access'] === 'public' ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(exampleOf(body, document)))}`]),
  ].join(' \\\n  ')
}
/** For a POSIX shell: nothing inside is special but the quote itself. */
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escape = (text: string): string => text.replace(/[&<>"']/g, character => entities[character] ?? '')
/** Text in which `backticks` mark code. */
const inline = (text: string): string => escape(text).replace(/`([^`]+)`/g, '<code>$1</code>')
const prose = (text: string): string => (text ? `<p>${inline(text)}</p>` : '')
/** A path or a field's name that may wrap at its separators, so that no phone scrolls sideways. */
const breakable = (text: string): string => escape(text).replace(/([/._-])(?=\w|\{)/g, '$1<wbr>')
const badge = (method: string) => `<b class="method ${escape(method.toLowerCase())}">${escape(method)}</b>`
