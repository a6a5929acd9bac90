import { describe, expect, it } from 'vitest'
import { commandFor, waysOf } from './ways.ts'

const command = 'curl -fsSL https://stockade.example/install.sh | sudo sh -s -- --token stk_1'
const pinned = `curl -fsSLk --pinnedpubkey 'sha256//abc=' https://stockade.example/install.sh | sudo sh -s -- --token stk_1 --pin 'sha256//abc='`

describe('the ways to run the install command', () => {
  it('are the command itself, wget, cloud-init, a task of Ansible, and a file to read first', () => {
    expect(waysOf(command)).toEqual(['curl', 'wget', 'cloudInit', 'ansible', 'read'])
    expect(commandFor('curl', command)).toBe(command)
    expect(commandFor('wget', command)).toBe(
      'wget -qO- https://stockade.example/install.sh | sudo sh -s -- --token stk_1',
    )
    expect(commandFor('cloudInit', command)).toBe(
      '#cloud-config\nruncmd:\n  - "curl -fsSL https://stockade.example/install.sh | sh -s -- --token stk_1"',
    )
    expect(commandFor('ansible', command)).toBe(
      [
        '- name: Install the Stockade agent',
        '  become: true',
        '  ansible.builtin.shell: "curl -fsSL https://stockade.example/install.sh | sh -s -- --token stk_1"',
        '  args:',
        '    creates: /etc/stockade-agent/agent.json',
      ].join('\n'),
    )
    expect(commandFor('read', command)).toBe(
      [
        'curl -fsSL -o stockade-install.sh https://stockade.example/install.sh',
        'less stockade-install.sh',
        'sudo sh stockade-install.sh --token stk_1',
      ].join('\n'),
    )
  })
  it('are for a token of many hosts a playbook with the token apart, and a machine image', () => {
    const many = `${pinned.replace('stk_1', 'set_1')} --insecure-http`
    expect(waysOf(many, true)).toEqual(['curl', 'cloudInit', 'ansible', 'image'])
    expect(commandFor('ansible', many, true)).toBe(
      [
        '- hosts: all',
        '  become: true',
        '  vars:',
        '    stockade_token: set_1',
        '  tasks:',
        '    - name: Install the Stockade agent',
        '      ansible.builtin.shell:',
        `        cmd: "curl -fsSLk --pinnedpubkey 'sha256//abc=' https://stockade.example/install.sh | STOCKADE_TOKEN={{ stockade_token | quote }} sh -s -- --pin 'sha256//abc=' --insecure-http"`,
        '        creates: /etc/stockade-agent/agent.json',
        '      register: stockade_installed',
        '      until: stockade_installed is succeeded',
        '      retries: 5',
        '      delay: 60',
        '      no_log: true',
      ].join('\n'),
    )
    expect(commandFor('image', many, true)).toBe(`${many} --image\nsudo truncate -s 0 /etc/machine-id`)
  })
  it('keep the pin of a certificate, and leave it to curl', () => {
    expect(waysOf(pinned)).toEqual(['curl', 'cloudInit', 'ansible', 'read'])
    expect(commandFor('read', pinned)).toContain(`curl -fsSLk --pinnedpubkey 'sha256//abc=' -o stockade-install.sh`)
    expect(commandFor('read', pinned)).toContain(`--token stk_1 --pin 'sha256//abc='`)
  })
  it('are the command alone where it has another form', () => {
    expect(waysOf('sh install.sh')).toEqual(['curl'])
    expect(commandFor('wget', 'sh install.sh')).toBe('sh install.sh')
  })
})
