const images = /\.(png|jpe?g|gif|webp|avif|svg|bmp|ico)$/i

export function isImage(name: string): boolean {
  return images.test(name)
}
