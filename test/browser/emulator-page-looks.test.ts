import { expect } from 'vitest';
import { start } from '../emulator/fixture.ts';
import { excessWidth, PHONE, test, untilLive, violations } from './browser.ts';
import { fillEmulator } from './emulator-world.ts';

test('fits every window from 360 to 2,560 pixels, light and dark', async ({ open }) => {
  const { emulator } = await start();
  const addresses = await fillEmulator(emulator);
  for (const dark of [false, true]) {
    const page = await open(addresses[0] ?? '', { dark });
    const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(ground).toBe(dark ? 'rgb(17, 21, 27)' : 'rgb(245, 247, 249)');
    for (const address of addresses) {
      await page.goto(address);
      for (const width of [360, 480, 700, 832, 1000, 1280, 2560]) {
        await page.setViewportSize({ width, height: 800 });
        expect([address, width, await excessWidth(page)]).toEqual([address, width, 0]);
      }
    }
  }
});

test.for([
  { look: {}, name: 'light' },
  { look: { dark: true }, name: 'dark' },
  { look: PHONE, name: 'phone' },
])('axe-core finds nothing: $name', async ({ look }, { open }) => {
  const { emulator } = await start();
  const addresses = [...(await fillEmulator(emulator)), `${emulator.baseUrl}/?filter=none`];
  const page = await open(addresses[0] ?? '', { ...look, ignoresPolicy: true });
  for (const address of addresses) {
    await page.goto(address);
    await untilLive(page);
    expect(await violations(page)).toEqual([]);
  }
});
