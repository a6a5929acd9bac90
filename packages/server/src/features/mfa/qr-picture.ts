/* Loaded on first use: most servers draw a QR code now and then. By a module of ours, because the bundle has no named exports of a CommonJS package that is imported late. */
export { toDataURL } from 'qrcode'
