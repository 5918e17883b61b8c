"""A few stations and collars that move between them; Tools/stations has more of both."""

import unittest

import servers
from end_to_end import EndToEndTest
from stations import Region


@unittest.skipUnless(servers.ARE_HERE, "needs PostgreSQL, which Tools/test unpacks")
class StationsTest(EndToEndTest):
    def test_the_union_is_the_truth(self):
        region = Region(self, station_count=5, collar_count=10, rate=2, every=0.5)
        total, _ = region.roam(6)
        self.assertEqual(total, 130)
        # More was heard than there is.
        self.assertGreater(region.receptions, 1.5 * total)
        region.check()
        self.assertEqual(region.database.rows(
            "SELECT count(*), count(DISTINCT collar) FROM collars.last_positions WHERE time = '2023-11-14 22:13:32+00'"),
            [["10", "10"]])
        region.close()


if __name__ == "__main__":
    unittest.main()
