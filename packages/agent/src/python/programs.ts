import { readFileSync } from 'node:fs'

/** The Python programs as text. The bundle has them built in: build.mjs replaces this module. */
const load = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8')

export const reader = load('reader.py')
/** One program: the modules that it uses stand before it. */
export const checker = ['stage.py', 'ambiguity.py', 'groups.py', 'checker.py'].map(load).join('\n')
export const lister = ['stage.py', 'lister.py'].map(load).join('\n')
export const action = load('stockade_action.py')
export const probe = load('probe.py')
export const launcher = load('launcher.py')
export const positions = load('positions.py')
export const journal = load('journal.py')
export const preview = load('preview.py')
