/** The upper edge of each layer: its own values on top of those of the layers before it. */
export function stack(layers: readonly (readonly (number | null)[])[]): number[][] {
  const edges: number[][] = []
  for (const layer of layers) {
    const below = edges.at(-1)
    edges.push(layer.map((value, index) => (value ?? 0) + (below?.[index] ?? 0)))
  }
  return edges
}
