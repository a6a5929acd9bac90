/* Loaded on first use: not every server sends mail. By a module of ours, because the bundle has no named exports of a CommonJS package that is imported late. */
export { createTransport } from 'nodemailer'
